/**
 * Brings what is foreign to this machine: Debian's packages, Apache Kafka's jars from Maven
 * Central, npm packages, compiled drivers. Each step does nothing, within milliseconds, where its
 * result is there; otherwise it says in one line what it does, and throws one error that says what
 * failed.
 *
 * All but Debian's packages lies in the user's cache folder, so that checkouts share it. It is made
 * in a temporary folder beside its place that is renamed when whole: two runs at the same time do
 * not disturb each other.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { root } from './programs.js'

const say = (text: string) => process.stderr.write(`seglog: ${text}\n`)

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

function apt(args: string[]): boolean {
  const sudo = process.getuid?.() === 0 ? [] : ['sudo', '-n']
  const [command = 'apt-get', ...rest] = [...sudo, 'apt-get', '-q', '-y', ...args]
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  return spawnSync(command, rest, { stdio: ['ignore', 2, 2], env }).status === 0
}

/** Programs, or paths, and the Debian packages that bring them. */
export function debian(wanted: Readonly<Record<string, string>>): void {
  const folders = (process.env.PATH ?? '').split(delimiter)
  // resolve: a path that begins with a slash stands for itself.
  const there = (what: string) => folders.some((folder) => existsSync(resolve(folder, what)))
  const names = Object.entries(wanted)
    .filter(([what]) => !there(what))
    .map(([, name]) => name)
  if (names.length === 0) return
  say(`installing Debian's ${names.join(', ')}`)
  const install = ['-o', 'DPkg::Lock::Timeout=120', 'install', '--no-install-recommends', ...names]
  // The lists may be missing, or older than the packages that the mirror still has.
  if (!apt(install) && !(apt(['update']) && apt(install))) {
    throw new Error(
      `foreign programs could not be installed; on Debian, as root: apt-get install ` +
        names.join(' '),
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

/** Headers that lie beside the running node spare node-gyp a download. */
function nodeHeaders(): Record<string, string> {
  const places = [dirname(dirname(process.execPath)), '/usr', '/usr/local']
  const found = places.find((place) => existsSync(join(place, 'include', 'node', 'node_api.h')))
  return found === undefined ? {} : { npm_config_nodedir: found }
}

/** A folder of the cache by its name, filled where it is not there. */
function make(name: string, what: string, fill: (folder: string) => void): string {
  const folder = join(cache, name)
  if (existsSync(folder)) return folder
  say(`${what} into ${folder}`)
  mkdirSync(cache, { recursive: true })
  const making = mkdtempSync(join(cache, '.making-'))
  try {
    fill(making)
    // Another run may have put its own there meanwhile, which is as good.
    if (!existsSync(folder)) renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
  return folder
}

function command(name: string, args: readonly string[], cwd: string, env = {}): void {
  const options = { cwd, env: { ...process.env, ...env }, encoding: 'utf8' } as const
  const { status, error, stdout, stderr } = spawnSync(name, args, options)
  if (status === 0) return
  const told = error?.message ?? `${stdout}${stderr}`.slice(-3000)
  throw new Error(`${name} ${args.join(' ')} failed: ${told}`)
}

/** The jars of a version of Apache Kafka. */
export function fetchKafka(version: KafkaVersion): void {
  make(`kafka-${version}`, `fetching Apache Kafka ${version} from Maven Central`, (folder) => {
    debian({ mvn: 'maven' })
    writeFileSync(join(folder, 'pom.xml'), pom(version))
    const goal = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies'
    const args = ['-q', '-B', goal, '-DoutputDirectory=.', '-DincludeScope=runtime']
    try {
      command('mvn', args, folder)
    } catch {
      // It keeps what it has already fetched: the second attempt goes on from there.
      command('mvn', args, folder)
    }
    // Old Kafkas bring a logger of their own, which wants to be set up.
    for (const name of readdirSync(folder)) {
      if (/^slf4j-(log4j12|reload4j)/.test(name)) rmSync(join(folder, name))
    }
  })
}

/**
 * npm packages of exact versions, in a folder of their own, which it returns. Those in `compiled`
 * have an addon without a binary; their scripts run, and no others.
 */
export function npm(
  packages: Readonly<Record<string, string>>,
  { compiled = [], env = {} }: { compiled?: readonly string[]; env?: Record<string, string> } = {},
): string {
  const text = JSON.stringify({ private: true, dependencies: packages })
  const [first = ''] = Object.entries(packages).map((each) => each.join('-').replace(/\W+/g, '-'))
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8)
  const name = `client-${first}-${digest}-abi${process.versions.modules}`
  return make(name, `installing ${first} from npm`, (folder) => {
    writeFileSync(join(folder, 'package.json'), text)
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund']
    command('npm', args, folder)
    for (const each of compiled) {
      const gyp = join(root, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js')
      const place = join(folder, 'node_modules', each)
      const args = [gyp, 'rebuild', '--release', '--loglevel=error']
      command(process.execPath, args, place, { ...nodeHeaders(), ...env })
    }
  })
}

const digestOf = (path: string) =>
  createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 12)

/** Class path of a program in Java, compiled with the jars of a version of Apache Kafka. */
export function java(source: string, version: KafkaVersion): string {
  debian({ java: 'default-jre-headless', javac: 'default-jdk-headless' })
  fetchKafka(version)
  const jars = join(kafkaJarsOf(version), '*')
  const name = basename(source, '.java')
  const own = `client-java-${version}-${name}-${digestOf(source)}`
  const classes = make(own, `compiling ${name} for Apache Kafka ${version}`, (folder) => {
    command('javac', ['-nowarn', '-encoding', 'UTF-8', '-cp', jars, '-d', folder, source], root)
  })
  return `${classes}:${jars}`
}

/** A program of Go that uses Debian's libraries. */
export function go(source: string): string {
  debian({
    go: 'golang-go',
    '/usr/share/gocode/src/github.com/Shopify/sarama': 'golang-github-shopify-sarama-dev',
  })
  const name = basename(source, '.go')
  const folder = make(`client-go-${name}-${digestOf(source)}`, `compiling ${name}`, (making) => {
    const env = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
    command('go', ['build', '-o', join(making, name), source], making, env)
  })
  return join(folder, name)
}
