// Brings a checkout from any state to one that can run: dependencies installed, addon compiled,
// TypeScript compiled. Each step first looks whether it is needed, by comparing modification times,
// so that a checkout with nothing missing costs a few milliseconds. Fails with one clear message;
// see `fail`.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const addon = join(root, 'build', 'Release', 'seglog.node')
const installed = join(root, 'node_modules', '.package-lock.json')
const compiled = join(root, 'dist', '.compiled')

/** Ends the process with one message and exit code 1. */
export function fail(message) {
  process.stderr.write(`seglog: ${message}\n`)
  process.exit(1)
}

/**
 * Runs a command in the checkout and fails with its name when it fails. Its output goes to stderr.
 */
export function run(command, args, options = {}) {
  const result = spawnSync(command, args, { cwd: root, stdio: ['ignore', 2, 2], ...options })
  if (result.error?.code === 'ENOENT') fail(`${command} is needed and was not found.`)
  if (result.status !== 0) fail(`${[command, ...args].join(' ')} failed.`)
}

const modified = (path) => (existsSync(path) ? statSync(path).mtimeMs : 0)

function newestUnder(path, ending) {
  let newest = 0
  for (const entry of readdirSync(join(root, path), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !ending.test(entry.name)) continue
    newest = Math.max(newest, statSync(join(entry.parentPath ?? entry.path, entry.name)).mtimeMs)
  }
  return newest
}

export function checkPlatform() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  // The same as `engines` of package.json.
  if (major < 20 || (major === 20 && minor < 3)) {
    fail(`Node.js 20.3 or newer is needed; this is ${process.version}.`)
  }
  if (process.platform !== 'linux' || !['x64', 'arm64'].includes(process.arch)) {
    fail(`Linux on x64 or arm64 is needed; this is ${process.platform} on ${process.arch}.`)
  }
}

export function installDependencies() {
  if (modified(installed) >= modified(join(root, 'package-lock.json'))) return
  // The addon is a step of its own, below, which reports a missing compiler in one line.
  run('npm', ['ci', '--ignore-scripts', '--include=dev'])
  const now = new Date()
  utimesSync(installed, now, now)
}

/** Headers that lie beside the running node spare node-gyp a download. */
export function headersEnvironment() {
  const prefix = dirname(dirname(process.execPath))
  const found = [prefix, '/usr', '/usr/local'].find((dir) =>
    existsSync(join(dir, 'include', 'node', 'node_api.h')),
  )
  return found ? { ...process.env, npm_config_nodedir: found } : process.env
}

const found = (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).status === 0

export function buildAddon() {
  const newest = Math.max(newestUnder('native', /\.(cc|h)$/), modified(join(root, 'binding.gyp')))
  if (modified(addon) >= newest) return
  for (const tool of [process.env.CXX ?? 'g++', 'make', 'python3']) {
    if (!found(tool)) {
      fail(
        `${tool} is needed to compile the native addon and was not found. ` +
          'On Debian: apt-get install g++ make python3',
      )
    }
  }
  // As a dependency of another package, this one shares that package's node_modules.
  const gyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js')
  run(process.execPath, [gyp, 'configure', 'build', '--loglevel=error'], {
    env: headersEnvironment(),
  })
  const now = new Date()
  utimesSync(addon, now, now)
}

/** What a source that is gone was compiled to would be tested and packed on. */
function removeOrphans() {
  const dist = join(root, 'dist')
  if (!existsSync(dist)) return
  for (const name of readdirSync(dist, { recursive: true })) {
    const stem = /^(.*)(?:\.d\.ts|\.js|\.js\.map)$/.exec(name)?.[1]
    if (stem === undefined || existsSync(join(root, `${stem.replace(/\.js$/, '')}.ts`))) continue
    rmSync(join(dist, name))
  }
}

export function compileTypeScript() {
  const newest = Math.max(
    ...['src', 'test', 'bench'].map((folder) => newestUnder(folder, /\.ts$/)),
    modified(join(root, 'tsconfig.json')),
  )
  if (modified(compiled) >= newest) return
  removeOrphans()
  run(process.execPath, [join(root, 'node_modules', 'typescript', 'bin', 'tsc')])
  mkdirSync(dirname(compiled), { recursive: true })
  writeFileSync(compiled, '')
}

export function setup() {
  checkPlatform()
  installDependencies()
  buildAddon()
  compileTypeScript()
}
