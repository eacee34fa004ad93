import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { temporaryDirectory } from '../support/tmp.js'

const run = promisify(execFile)
const text = readFileSync('docs/library.md', 'utf8')
const examples = [...text.matchAll(/^```(?:js|ts)\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
const library = pathToFileURL('dist/src/index.js').href

test('docs/library.md has examples', () => {
  assert.ok(examples.length >= 6)
})

for (const [i, code] of examples.entries()) {
  test(`example ${i + 1} of docs/library.md runs, and prints what it says`, async (t) => {
    const directory = temporaryDirectory(t)
    const file = join(directory, 'example.mjs')
    writeFileSync(file, code.replaceAll("'seglog'", `'${library}'`))
    const { stdout } = await run(process.execPath, [file], { cwd: directory, timeout: 20_000 })
    for (const [, expected = ''] of code.matchAll(/\/\/ ((?:\d+n ?)+)/g)) {
      assert.ok(stdout.split('\n').includes(expected.trim()), `${expected} in ${stdout}`)
    }
  })
}

test('docs/library.md names every code of an error', () => {
  const table = /export type ErrorCode =\n([\s\S]*?)\n\n/.exec(
    readFileSync('src/errors.ts', 'utf8'),
  )
  const codes = [...(table?.[1] ?? '').matchAll(/'(\w+)'/g)].map(([, code = '']) => code)
  assert.ok(codes.length > 20)
  assert.deepEqual(
    codes.filter((code) => !text.includes(`\`${code}\``)),
    [],
  )
})
