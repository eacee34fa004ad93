import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BrokerError, checkCode, isRetriable, isStale } from '../../src/client/errors.js'
import { SeglogError } from '../../src/errors.js'

test('a code of Kafka is an error with its name, and what the broker adds', () => {
  const error = new BrokerError(36, 'topic t', "Topic 't' already exists.")
  assert.equal(error.message, "topic t: TOPIC_ALREADY_EXISTS (Topic 't' already exists.)")
  assert.equal(error.code, 'BROKER_ERROR')
  assert.deepEqual([error.kafkaCode, error.kafkaName], [36, 'TOPIC_ALREADY_EXISTS'])
  assert.ok(error instanceof SeglogError)
})

test('the text of a broker stays on one line, and steers no terminal', () => {
  const { message } = new BrokerError(42, 'x', 'a\n\u001b[31mb\u2028c')
  assert.equal(message, 'x: INVALID_REQUEST (a [31mb c)')
})

test('a code that is not known is told as its number', () => {
  assert.equal(new BrokerError(9999, 'x').message, 'x: 9999')
})

test('0 is no error', () => {
  checkCode(0, 'x')
  assert.throws(() => checkCode(3, 'x'), { kafkaCode: 3 })
})

test('what may go away by itself is retriable, and a refusal is not', () => {
  assert.equal(isRetriable(new BrokerError(6, 'x')), true)
  assert.equal(isRetriable(new BrokerError(17, 'x')), false)
  assert.equal(isRetriable(new SeglogError('DISCONNECTED', 'x')), true)
  assert.equal(isRetriable(new SeglogError('TIMED_OUT', 'x')), true)
  assert.equal(isRetriable(new SeglogError('MALFORMED_FRAME', 'x')), false)
  assert.equal(isRetriable(new TypeError('x')), false)
})

test('a leader that moved makes the picture stale, an overload does not', () => {
  assert.equal(isStale(new BrokerError(6, 'x')), true)
  assert.equal(isStale(new BrokerError(14, 'x')), false)
  assert.equal(isStale(new SeglogError('DISCONNECTED', 'x')), true)
})
