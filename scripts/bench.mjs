// `npm run bench -- NAME`: builds what is missing, then runs the bench suite. The suite `log` is
// about other stores too: they are no dependencies of this package, hence installed here, in the
// user's cache folder. What cannot be installed is left out, and the report says so.
import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { headersEnvironment, root, run, setup } from './setup.mjs'

// Exact versions: figures of different days are about the same code. better-sqlite3 13 needs
// Node.js 22.
const stores = { lmdb: '3.5.6', 'classic-level': '3.0.0', 'better-sqlite3': '12.9.0' }

const say = (text) => process.stderr.write(`seglog: ${text}\n`)

/** Runs a command in a folder; false where it fails. */
function attempt(command, args, cwd) {
  const options = { cwd, stdio: ['ignore', 2, 2], env: headersEnvironment() }
  return spawnSync(command, args, options).status === 0
}

/** The packages without their addons, made beside `folder` and renamed: a part is never found. */
function download(folder) {
  say(`installing stores to compare with into ${folder}; once, a minute or two`)
  const making = `${folder}.${process.pid}`
  mkdirSync(making, { recursive: true })
  try {
    const manifest = JSON.stringify({ private: true, dependencies: stores })
    writeFileSync(join(making, 'package.json'), manifest)
    const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund']
    if (attempt('npm', args, making) && !existsSync(folder)) renameSync(making, folder)
  } finally {
    rmSync(making, { recursive: true, force: true })
  }
}

/** Returns the folder in which the packages of other stores are, as far as they can be had. */
function installStores() {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'seglog')
  const versions = Object.values(stores).join('-')
  const folder = join(cache, `stores-${versions}-abi${process.versions.modules}`)
  if (!existsSync(folder)) download(folder)
  // lmdb and classic-level bring their addons; that of better-sqlite3 is compiled here, because
  // its own script would first look for one outside of the registry.
  const sqlite = join(folder, 'node_modules', 'better-sqlite3')
  if (existsSync(sqlite) && !existsSync(join(sqlite, 'build', 'Release', 'better_sqlite3.node'))) {
    const gyp = createRequire(import.meta.url).resolve('node-gyp/bin/node-gyp.js')
    attempt(process.execPath, [gyp, 'rebuild', '--release', '--loglevel=error'], sqlite)
  }
  return folder
}

/** The program that measures the machine's own limit. */
function compileLimit() {
  const program = join(root, 'build', 'bench', 'limit')
  const sources = readdirSync(join(root, 'native'))
    .filter((name) => /^crc32.*\.cc$/.test(name) && name !== 'crc_binding.cc')
    .map((name) => join('native', name))
    .concat(join('bench', 'log', 'limit.cc'))
  const newest = Math.max(...sources.map((path) => statSync(join(root, path)).mtimeMs))
  if (existsSync(program) && statSync(program).mtimeMs >= newest) return program
  mkdirSync(join(root, 'build', 'bench'), { recursive: true })
  const flags = ['-std=c++17', '-O2', '-pthread', '-o', program]
  run(process.env.CXX ?? 'g++', [...flags, ...sources])
  return program
}

setup()
// An interrupted installation ends where it stands, and removes what it began.
process.once('SIGINT', () => process.exit(130))
process.once('SIGTERM', () => process.exit(143))
const { parseArguments } = await import('../dist/bench/arguments.js')
const parsed = parseArguments(process.argv.slice(2))
if (!('fault' in parsed) && !parsed.help && parsed.chosen.some(({ name }) => name === 'log')) {
  process.env.SEGLOG_BENCH_STORES = installStores()
  process.env.SEGLOG_BENCH_LIMIT = compileLimit()
}
await import('../dist/bench/main.js')
