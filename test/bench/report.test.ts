/** The text of the bench: sizes, figures and columns. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { digits, type Report, reportLines, SCHEMA, sizeText, table } from '../../bench/report.js'

const machine = {
  cpu: 'a cpu',
  cores: 2,
  arch: 'x64',
  kernel: '6',
  node: 'v20',
  memoryBytes: 2 ** 33,
}

function reportOf(comparisons: Report['comparisons']): Report {
  return {
    schema: SCHEMA,
    suite: 'crc',
    question: 'how fast?',
    startedAt: '2026-11-30T00:00:00.000Z',
    quick: false,
    machine,
    context: [],
    rounds: 2,
    secondsPerTrial: 1,
    contestants: [{ name: 'new', note: 'does less' }],
    comparisons,
    rates: [],
  }
}

test('a size is told in the largest unit that divides it', () => {
  assert.deepEqual([100, 1024, 1536, 1 << 20].map(sizeText), ['100 B', '1 KiB', '1536 B', '1 MiB'])
})

test('a figure has three significant digits', () => {
  const figures = [0.0561, 1, 9.876, 12.345, 123.4, 51692].map(digits)
  assert.deepEqual(figures, ['0.056', '1.00', '9.88', '12.3', '123', '51692'])
  assert.equal(digits(Number.NaN), '-')
})

test('columns stand flush right, the first one flush left', () => {
  assert.deepEqual(
    table([
      ['a', '1'],
      ['bcd', '234'],
    ]),
    ['a      1', 'bcd  234'],
  )
})

test('a row shows both sides in microseconds and MB/s, and the ratio', () => {
  const side = (name: string, ns: number) => ({
    name,
    nsPerOperation: [ns],
    spread: { median: ns, min: ns, max: ns },
    bytesPerOperation: 1000,
  })
  const ratio = { median: 4, min: 3, max: 5 }
  const sizes = [{ size: 1000, candidate: side('new', 500), baseline: side('old', 2000), ratio }]
  const lines = reportLines(reportOf([{ candidate: 'new', baseline: 'old', sizes }]))
  const row = lines.find((line) => line.startsWith('  1000 B'))
  assert.equal(
    row?.replaceAll(/ +/g, ' '),
    ' 1000 B 0.500 (0.500..0.500) 2000 2.00 (2.00..2.00) 500 4.00 (3.00..5.00)',
  )
  assert.ok(lines.includes('  new: does less'))
})

test('a comparison that was not run says why', () => {
  const lines = reportLines(
    reportOf([{ candidate: 'new', baseline: 'old', missing: 'no such function', sizes: [] }]),
  )
  assert.ok(lines.includes('  not run: no such function'))
})

test('a report of quick trials says that it is not to be quoted, and no other does', () => {
  const notQuoted = (quick: boolean) =>
    reportLines({ ...reportOf([]), quick }).some((line) => line.endsWith('for figures to quote'))
  assert.deepEqual([notQuoted(true), notQuoted(false)], [true, false])
})

test('one round is one round', () => {
  const lines = reportLines({ ...reportOf([]), rounds: 1 })
  assert.ok(lines.includes('  1 round of trials of 1 s, each in its own process'))
})
