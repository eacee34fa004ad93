/**
 * Brings foreign clients to this machine: Debian's packages, npm packages, jars, compiled drivers.
 * Each step does nothing where its result is there, says in one line what it does otherwise, and
 * rejects with what failed. All but Debian's packages lie in the user's cache folder, made beside
 * and renamed when whole.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { cache, fetchKafka, installPackages, type KafkaVersion, kafkaJarsOf } from '../prepare.js'
import { root } from '../programs.js'

const say = (text: string) => process.stderr.write(`seglog: ${text}\n`)
const drivers = join(root, 'test', 'compat', 'matrix', 'drivers')

/** The path of a driver that Node.js runs. */
export const nodeDriver = (name: string) => join(import.meta.dirname, 'drivers', `${name}.js`)

/** The path of a driver that is run, or compiled, as it was written. */
export const sourceOf = (name: string) => join(drivers, name)

/** Headers that lie beside the running node spare node-gyp a download. */
function nodeHeaders(): Record<string, string> {
  const places = [dirname(dirname(process.execPath)), '/usr', '/usr/local']
  const found = places.find((place) => existsSync(join(place, 'include', 'node', 'node_api.h')))
  return found === undefined ? {} : { npm_config_nodedir: found }
}

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

/** Programs or files, and the Debian packages that bring them. */
export function debian(wanted: Readonly<Record<string, string>>): void {
  const said = (names: readonly string[]) => say(`installing Debian's ${names.join(', ')}`)
  installPackages(new Map(Object.entries(wanted)), said)
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

/** Class path of a driver in Java, with the jars of a version of Apache Kafka. */
export function java(name: string, version: KafkaVersion): string {
  debian({ java: 'default-jre-headless', javac: 'default-jdk-headless' })
  fetchKafka(version)
  const jars = join(kafkaJarsOf(version), '*')
  const source = sourceOf(`${name}.java`)
  const own = `client-java-${version}-${name}-${digestOf(source)}`
  const classes = make(own, `compiling ${name} for Apache Kafka ${version}`, (folder) => {
    command('javac', ['-nowarn', '-encoding', 'UTF-8', '-cp', jars, '-d', folder, source], root)
  })
  return `${classes}:${jars}`
}

/** A program of Go that uses Debian's libraries. */
export function go(name: string): string {
  debian({
    go: 'golang-go',
    '/usr/share/gocode/src/github.com/Shopify/sarama': 'golang-github-shopify-sarama-dev',
  })
  const source = sourceOf(`${name}.go`)
  const folder = make(`client-go-${name}-${digestOf(source)}`, `compiling ${name}`, (making) => {
    const env = { GO111MODULE: 'off', GOPATH: '/usr/share/gocode' }
    command('go', ['build', '-o', join(making, name), source], making, env)
  })
  return join(folder, name)
}
