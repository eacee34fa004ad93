import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Complaints } from '../../src/server/complaints.js'

test('a stranger does not say how fast the log grows', () => {
  let nowMs = 0
  const lines: string[] = []
  const logger = { info() {}, error() {}, warn: (line: string) => void lines.push(line) }
  const complaints = new Complaints({ monotonic: () => nowMs }, logger)
  for (let i = 0; i < 1000; i++) complaints.tell(`line ${i}`)
  assert.deepEqual([lines.length, lines.at(-1)], [50, 'line 49'])
  nowMs = 10_000
  complaints.tell('later')
  assert.deepEqual(lines.slice(50), ['950 more lines like these were left out', 'later'])
  nowMs = 20_000
  complaints.tell('quiet since')
  assert.deepEqual(lines.slice(52), ['quiet since'])
})
