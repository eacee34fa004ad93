/** Compiles the preloaded disk of shim.h, and says how a process is put on it. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const folder = join(root, 'test', 'fault')
const sources = ['shim.cc', 'shim_snapshot.cc', 'shim_calls.cc'].map((name) => join(folder, name))
const library = join(root, 'build', 'fault', 'shim.so')

/** Kinds of events in the order of `Kind` in shim.h. */
export const kinds = [
  'open',
  'read',
  'write',
  'truncate',
  'reserve',
  'sync',
  'folder',
  'name',
  'map',
]

const modified = (path: string) => (existsSync(path) ? statSync(path).mtimeMs : 0)

/** The path of the library, which is compiled where it is older than its sources. */
export function shim(): string {
  const newest = Math.max(...[...sources, join(folder, 'shim.h')].map(modified))
  if (modified(library) >= newest) return library
  mkdirSync(dirname(library), { recursive: true })
  // Two test files may come here at once: each makes its own, and the last one stays.
  const made = `${library}.${process.pid}`
  const flags = ['-std=c++17', '-O1', '-g', '-Wall', '-Wextra', '-fPIC', '-shared', '-pthread']
  const { status, stderr } = spawnSync('g++', [...flags, '-o', made, ...sources, '-ldl'], {
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the shim does not compile: ${stderr}`)
  renameSync(made, library)
  return library
}

/** See `Plan` in shim.h, which has the same fields. */
export interface Plan {
  seed: number
  snap?: number
  rare?: number
  snaps?: number
  exit?: number
  kind?: number
  at?: number
  times?: number
  errno?: number
  only?: string
  delay?: number
}

/** Makes a disk; below `live` of it the process may work, where these folders are there already. */
export function makeDisk(disk: string, folders: readonly string[]): void {
  for (const name of ['live', 'image', 'snaps']) mkdirSync(join(disk, name), { recursive: true })
  for (const name of folders) mkdirSync(join(disk, 'live', name))
  const lines = folders.map((name) => `M ${name}\n`)
  writeFileSync(join(disk, 'journal'), `${lines.join('')}D \n`)
}

/** Calls that were made to fail on the disk. */
export const countFaults = (disk: string) =>
  readFileSync(join(disk, 'journal'), 'latin1').match(/^X /gm)?.length ?? 0

/** The environment of a process on the disk. */
export function onDisk(disk: string, plan: Plan): NodeJS.ProcessEnv {
  const text = Object.entries(plan).map(([name, value]) => `${name}=${value}`)
  return {
    ...process.env,
    LD_PRELOAD: shim(),
    SEGLOG_SHIM_ROOT: disk,
    SEGLOG_SHIM_PLAN: text.join(','),
    UV_USE_IO_URING: '0',
  }
}
