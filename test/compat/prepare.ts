/**
 * Installs the strangers that judge seglog: kcat and strace from Debian, Apache Kafka's own jars
 * from Maven Central. Does nothing, within milliseconds, where all is there. `npm test` calls it
 * once before the tests run.
 *
 * The jars lie in the user's cache folder, so that checkouts share them. They are fetched into a
 * temporary folder beside it that is renamed when whole: a folder that bears the name and the
 * marker is complete, and two runs at the same time do not disturb each other. What cannot be
 * installed is one error that says what to do.
 */
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

/** Today's, the last line with ZooKeeper, and the one of the era of message sets. */
export const kafkaVersions = ['4.3.1', '3.6.2', '0.8.2.2'] as const
export type KafkaVersion = (typeof kafkaVersions)[number]

/** Where everything lies that is fetched or compiled from what is foreign. */
export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'seglog')

/** The folder with the jars of a version of Apache Kafka: broker, clients, tools, and ZooKeeper. */
export function kafkaJarsOf(version: KafkaVersion): string {
  return join(cache, `kafka-${version}`)
}

/** Those of today's Kafka. */
export const kafkaJars = kafkaJarsOf('4.3.1')

const complete = (folder: string) => existsSync(join(folder, '.done'))

/** Commands and the Debian packages that bring them. */
const packages = new Map([
  ['kcat', 'kcat'],
  ['strace', 'strace'],
  ['java', 'default-jre-headless'],
])

function missing(wanted: ReadonlyMap<string, string>): string[] {
  const folders = (process.env.PATH ?? '').split(delimiter)
  // resolve: a path that begins with a slash stands for itself.
  return [...wanted]
    .filter(([command]) => !folders.some((folder) => existsSync(resolve(folder, command))))
    .map(([, name]) => name)
}

function apt(args: string[]): boolean {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const [command = 'apt-get', ...rest] = [...sudo, 'apt-get', '-q', '-y', ...args]
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(command, rest, { stdio: ['ignore', 2, 2], env }).status === 0
}

/** Commands, or paths, and the Debian packages that bring them. */
export function installPackages(
  wanted: ReadonlyMap<string, string>,
  tell: (names: readonly string[]) => void = () => {},
): void {
  const names = missing(wanted)
  if (names.length === 0) return
  tell(names)
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '--no-install-recommends', ...names]
  // The lists may be missing, or older than the packages that the mirror still has.
  if (!apt(install) && !(apt(['update']) && apt(install))) {
    throw new Error(
      `the compatibility tests need programs that could not be installed; ` +
        `on Debian, as root: apt-get install ${names.join(' ')}`,
    )
  }
}

/** What to ask Maven for, as group, artifact and version; dependencies come with it. */
const artifacts: Record<KafkaVersion, readonly (readonly [string, string, string])[]> = {
  '4.3.1': [
    ['org.apache.kafka', 'kafka_2.13', '4.3.1'],
    ['org.apache.kafka', 'kafka-tools', '4.3.1'],
    ['org.slf4j', 'slf4j-simple', '1.7.36'],
  ],
  '3.6.2': [
    ['org.apache.kafka', 'kafka_2.13', '3.6.2'],
    ['org.slf4j', 'slf4j-simple', '1.7.36'],
  ],
  '0.8.2.2': [
    ['org.apache.kafka', 'kafka_2.11', '0.8.2.2'],
    ['org.slf4j', 'slf4j-simple', '1.7.36'],
  ],
}

function pom(version: KafkaVersion): string {
  const dependencies = artifacts[version].map(
    ([group, artifact, each]) =>
      `    <dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId>` +
      `<version>${each}</version></dependency>`,
  )
  return [
    '<project xmlns="http://maven.apache.org/POM/4.0.0">',
    '  <modelVersion>4.0.0</modelVersion>',
    '  <groupId>seglog</groupId><artifactId>strangers</artifactId><version>1</version>',
    '  <packaging>pom</packaging>',
    '  <dependencies>',
    ...dependencies,
    '  </dependencies>',
    '</project>',
    '',
  ].join('\n')
}

function copyDependencies(folder: string, version: KafkaVersion): boolean {
  writeFileSync(join(folder, 'pom.xml'), pom(version))
  const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies'
  const args = ['-q', '-B', goal, '-DoutputDirectory=.', '-DincludeScope=runtime']
  return spawnSync('mvn', args, { cwd: folder, stdio: ['ignore', 2, 2] }).status === 0
}

function fetchJars(version: KafkaVersion): void {
  const jars = kafkaJarsOf(version)
  mkdirSync(cache, { recursive: true })
  const folder = mkdtempSync(join(cache, '.fetching-'))
  try {
    // Maven keeps what it has already fetched, so that the second attempt goes on from there.
    if (!copyDependencies(folder, version) && !copyDependencies(folder, version)) {
      throw new Error(
        `the compatibility tests need Apache Kafka ${version}, which Maven could not fetch`,
      )
    }
    dropSecondLogger(folder)
    writeFileSync(join(folder, '.done'), '')
    if (!complete(jars)) rmSync(jars, { recursive: true, force: true })
    renameSync(folder, jars)
  } catch (error) {
    // Another run may have put its own copy there first, which is as good.
    if (!complete(jars)) throw error
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Old Kafkas bring a logger of their own, which wants to be set up. */
function dropSecondLogger(folder: string): void {
  for (const name of readdirSync(folder)) {
    if (/^slf4j-(log4j12|reload4j)/.test(name)) rmSync(join(folder, name))
  }
}

/** The jars of a version of Apache Kafka. */
export function fetchKafka(version: KafkaVersion): void {
  if (complete(kafkaJarsOf(version))) return
  installPackages(new Map([['mvn', 'maven']]))
  fetchJars(version)
}

/** Makes sure that every program and jar of the compatibility tests is there. */
export async function prepare(): Promise<void> {
  installPackages(packages)
  for (const version of kafkaVersions) fetchKafka(version)
}
