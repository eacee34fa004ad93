/**
 * The rules of the house, applied to every file of the checkout. The rules themselves are tested in
 * tidy/.
 */
import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import * as rules from './tidy/rules.js'

const root = join(import.meta.dirname, '..', '..')
const notOurs = new Set(['node_modules', 'build', 'dist', 'data', '.git', '.cache'])
const binary = /\.(?:log|index|timeindex|snapshot|bin|gz|png|tgz|node)$/

function filesUnder(folder: string): string[] {
  return readdirSync(join(root, folder), { withFileTypes: true })
    .filter((entry) => !notOurs.has(entry.name))
    .flatMap((entry) => {
      const path = folder ? `${folder}/${entry.name}` : entry.name
      if (entry.isDirectory()) return filesUnder(path)
      return entry.isFile() && !binary.test(path) ? [path] : []
    })
}

const all = filesUnder('').map((path) => ({ path, text: readFileSync(join(root, path), 'utf8') }))
const code = all.filter(({ path }) => /\.(?:ts|mjs|cc|h)$/.test(path))
const src = code.filter(({ path }) => path.startsWith('src/'))
const native = code.filter(({ path }) => path.startsWith('native/'))

function assertTidy(sources: readonly rules.Source[], rule: rules.Rule): void {
  assert.ok(sources.length > 5, 'the files were not found')
  assert.equal(sources.flatMap(rule).join('\n'), '')
}

test('no file is longer than 400 lines and no line than 100 characters', () => {
  assertTidy(code, rules.size)
})

test('no function is longer than 60 lines', () => {
  assertTidy(code, rules.functionSize)
})

test('imports point only down the layers', () => {
  assertTidy(src, rules.layers)
})

test('clock, timers, randomness and sockets are used in src/env.ts alone', () => {
  assertTidy(src, rules.environment)
})

test('every source file begins with its contract', () => {
  const paths = new Set(native.map(({ path }) => path))
  // What implements a header has its contract there.
  const alone = native.filter(({ path }) => !paths.has(path.replace(/\.cc$/, '.h')))
  const headers = native.filter(({ path }) => path.endsWith('.h'))
  assertTidy([...src, ...headers, ...alone], rules.contract)
})

test('errors have a code and a text in one line', () => {
  assertTidy(src, rules.errors)
})

test('no file names a folder or a mirror of the machine on which it was written', () => {
  assertTidy(all, rules.anywhere)
})

test('the result codes of the addon are the same on both sides', () => {
  const read = (path: string) => readFileSync(join(root, path), 'utf8')
  const [header, module] = rules.statusesOf(read('native/status.h'), read('src/native.ts'))
  assert.ok(header.size > 10)
  assert.deepEqual(module, header)
})
