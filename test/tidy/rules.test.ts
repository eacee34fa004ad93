/**
 * That each rule complains of what it is for and of nothing else: a rule that cannot fail would be
 * worthless.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as rules from './rules.js'

const complaints = (rule: rules.Rule, text: string, path = 'src/storage/sample.ts') =>
  rule({ path, text }).length

function assertJudges(rule: rules.Rule, good: string[], bad: string[], path?: string): void {
  for (const text of good) assert.equal(complaints(rule, text, path), 0, text)
  for (const text of bad) assert.equal(complaints(rule, text, path), 1, text)
}

test('a file has at most 400 lines of at most 100 characters', () => {
  const lines = (count: number, width = 1) => `${'ü'.repeat(width)}\n`.repeat(count)
  assertJudges(rules.size, [lines(400), lines(1, 100)], [lines(401), lines(1, 101)])
})

test('a function has at most 60 lines, in both languages', () => {
  const body = (lines: number) => `{${'\n'.repeat(lines - 1)}}`
  const typescript = (lines: number) => `function f(): void ${body(lines)}`
  const cpp = (lines: number) => `int A::f() const ${body(lines)}`
  assertJudges(rules.functionSize, [typescript(60)], [typescript(61)])
  assertJudges(rules.functionSize, [cpp(60)], [cpp(61)], 'native/a.cc')
})

test('an import points down, to a leaf, or to its own unit', () => {
  const good = ['../native.js', '../protocol/bytes.js', '../config-keys.js', './log.js', 'node:fs']
  const bad = ['../replication/partition.js', '../broker.js', '../cli/main.js', '../nowhere/a.js']
  const statement = (specifier: string) => `import type { A } from '${specifier}'`
  assertJudges(rules.layers, good.map(statement), bad.map(statement))
  const sideways = [statement('../coordinator/group.js'), "await import('../server/listener.js')"]
  assertJudges(rules.layers, [], sideways, 'src/controller/a.ts')
  assertJudges(rules.layers, [], [statement('./errors.js')], 'src/nowhere.ts')
})

test('a client imports leaves only, and no layer imports it', () => {
  const statement = (specifier: string) => `export { a } from '${specifier}'`
  const good = ['../records/batch.js', '../apis/fetch.js', '../env.js']
  const bad = ['../storage/log.js', '../broker.js']
  assertJudges(rules.layers, good.map(statement), bad.map(statement), 'src/client/a.ts')
  assertJudges(rules.layers, [], [statement('../client/admin.js')], 'src/handlers/a.ts')
})

test('clock, timer, randomness and socket are not used directly', () => {
  const good = [
    'env.now()',
    'new Date(ms)',
    "import type { Socket } from 'node:net'",
    "import { createHash } from 'node:crypto'",
    "// Date.now() and setTimeout(f) in words\nconst text = 'Math.random()'",
  ]
  const bad = [
    'const a = Date.now()',
    'new Date()',
    'performance.now()',
    'process.hrtime()',
    'setTimeout(f, 1)',
    'setImmediate(f)',
    'Math.random()',
    'crypto.randomUUID()',
    'AbortSignal.timeout(1)',
    "import { connect } from 'node:net'",
    "import { type Socket } from 'net'",
    "import { setTimeout as wait } from 'node:timers/promises'",
    "import { randomBytes } from 'node:crypto'",
    "import * as crypto from 'node:crypto'",
  ]
  assertJudges(rules.environment, good, bad.slice(0, 11))
  // An import of a timer is a second complaint by its name.
  for (const text of bad.slice(11)) assert.ok(complaints(rules.environment, text) > 0, text)
  assertJudges(rules.environment, bad, [], 'src/env.ts')
})

test('a file begins with a contract of some words', () => {
  const good = [
    '/** What this file owns and keeps. */\n',
    '#!/usr/bin/env node\n// What this file owns\n// and keeps.\n',
  ]
  const bad = ["import 'a'\n", '/** Helpers. */\n', `/**\n${' * Words.\n'.repeat(20)} */`]
  assertJudges(rules.contract, good, bad)
})

test('an error has a code and a text in good form', () => {
  const good = ["new SeglogError('IO', `x: failed`)", "new ProtocolError(3, 'x')"]
  const bad = [
    "new Error('x')",
    "new TypeError('x')",
    "new SeglogError('IO', '')",
    "new SeglogError('IO', 'It failed.')",
    "new SeglogError(\n  'IO',\n  'two\\nlines',\n)",
  ]
  assertJudges(rules.errors, good, bad)
})

test('a folder or a mirror of one machine is found', () => {
  const good = ['https://example.org/work/x', './work/x', "'/workers'", 'network/root', '/rooted']
  // Written with a space, lest the rule find them here.
  const bad = ['/ work/shared', '"/ root/x"', '(/ tmp/wt/a)', 'registry. npmjs.org']
  assertJudges(
    rules.anywhere,
    good,
    bad.map((text) => text.replace(' ', '')),
  )
})

test('result codes that differ are seen', () => {
  const header = 'enum class Code {\n  kOk = 0,\n  kNoSpace = -4, // full\n};'
  const module = 'export const Status = {\n  OK: 0,\n  NO_SPACE: -5,\n} as const'
  const [native, listed] = rules.statusesOf(header, module)
  assert.deepEqual([...native], [...Object.entries({ OK: 0, NO_SPACE: -4 })])
  assert.deepEqual([...listed], [...Object.entries({ OK: 0, NO_SPACE: -5 })])
})
