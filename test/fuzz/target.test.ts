/** That what a broker complains of is told apart. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { complaintOf } from './target.js'

const line = (msg: string) => JSON.stringify({ time: '2026-01-01', level: 'warn', msg })

test('complaints that differ in numbers and names are one kind', () => {
  const first = complaintOf(line("closing 127.0.0.1:5: 7 bytes of 'a' where 3 are left"))
  const second = complaintOf(line("closing 127.0.0.1:61: -2 bytes of 'b' where 0 are left"))
  assert.equal(first.kind, "warn closing #: # bytes of '…' where # are left")
  assert.deepEqual(second, { kind: first.kind, unforeseen: false })
})

test('an error with a stack was not foreseen', () => {
  const { stack } = new TypeError('x is undefined')
  assert.ok(complaintOf(line(`closing a connection: ${stack}`)).unforeseen)
})

test('what is no line of the log was not foreseen', () => {
  assert.ok(complaintOf('FATAL ERROR: heap out of memory').unforeseen)
})
