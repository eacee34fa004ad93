/** Compiles the engine, without bindings, and its C++ tests and fuzzers under sanitizers. */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))))
const target = join(root, 'build', 'native-test')
export const program = join(target, 'all')
const sanitizers = ['-fsanitize=address,undefined', '-fno-sanitize-recover=undefined']
const flags = ['-std=c++17', ...sanitizers, '-O1', '-g', '-Wall', '-Wextra', '-pthread']

const modified = (path: string) => (existsSync(path) ? statSync(path).mtimeMs : 0)
const listed = (folder: string, ending: string) =>
  readdirSync(join(root, folder))
    .filter((name) => name.endsWith(ending))
    .map((name) => join(root, folder, name))

/** What includes node_api.h or napi.h needs Node.js around it, and has its tests in TypeScript. */
const bound = /native\/(\w+_binding|addon|work)\.cc$/

export async function compileAll(): Promise<void> {
  mkdirSync(target, { recursive: true })
  const sources = ['native', 'test/native', 'test/fuzz'].flatMap((name) => listed(name, '.cc'))
  const wanted = sources.filter((path) => !bound.test(path))
  const headers = ['native', 'test/native', 'test/fuzz'].flatMap((name) => listed(name, '.h'))
  const newestHeader = Math.max(...headers.map(modified))
  const objects = wanted.map((path) => join(target, `${basename(path)}.o`))
  const stale = wanted.filter((path, i) => {
    const compiled = modified(objects[i] ?? '')
    return compiled < modified(path) || compiled < newestHeader
  })
  const compile = async () => {
    for (let path = stale.pop(); path; path = stale.pop()) {
      const object = join(target, `${basename(path)}.o`)
      await promisify(execFile)('g++', [...flags, '-c', path, '-o', object])
    }
  }
  const changed = stale.length > 0
  await Promise.all(Array.from({ length: availableParallelism() }, compile))
  if (changed || !existsSync(program)) {
    await promisify(execFile)('g++', [...sanitizers, '-pthread', '-o', program, ...objects])
  }
}
