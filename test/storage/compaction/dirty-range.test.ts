import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dirtyRange, groupsOf } from '../../../src/storage/compaction/dirty-range.js'

const NOW = 1_000_000

/** Segments of 10 offsets and 100 bytes each, one ms apart, the last at `NOW`. */
const segments = (count: number) =>
  Array.from({ length: count }, (_, i) => ({
    baseOffset: i * 10,
    endOffset: i * 10 + 10,
    sizeBytes: 100,
    maxTimestamp: NOW - (count - 1 - i),
  }))

const limits = {
  startOffset: 0,
  cleanedOffset: undefined as number | undefined,
  limitOffset: 1000,
  nowMs: NOW,
  minCompactionLagMs: 0,
}

test('a log that was never compacted is dirty as a whole', () => {
  assert.deepEqual(dirtyRange(segments(4), limits), { firstDirty: 0, end: 40, ratio: 1 })
})

test('what lies below the checkpoint is clean', () => {
  const range = dirtyRange(segments(4), { ...limits, cleanedOffset: 30 })
  assert.deepEqual(range, { firstDirty: 30, end: 40, ratio: 0.25 })
})

test('nothing is dirty where the checkpoint is at the end', () => {
  const range = dirtyRange(segments(4), { ...limits, cleanedOffset: 40 })
  assert.deepEqual(range, { firstDirty: 40, end: 40, ratio: 0 })
})

test('a checkpoint below the start of the log begins at the start', () => {
  const range = dirtyRange(segments(4).slice(2), { ...limits, startOffset: 25, cleanedOffset: 3 })
  assert.deepEqual(range, { firstDirty: 25, end: 40, ratio: 1 })
})

test('a checkpoint above the end of the log begins at the start', () => {
  const range = dirtyRange(segments(4), { ...limits, cleanedOffset: 41 })
  assert.deepEqual(range, { firstDirty: 0, end: 40, ratio: 1 })
})

test('a segment that reaches above the limit is left alone', () => {
  assert.equal(dirtyRange(segments(4), { ...limits, limitOffset: 39 }).end, 30)
  assert.equal(dirtyRange(segments(4), { ...limits, limitOffset: 40 }).end, 40)
})

test('a segment with a record that is too young ends the range', () => {
  assert.equal(dirtyRange(segments(4), { ...limits, minCompactionLagMs: 1 }).end, 30)
  assert.equal(dirtyRange(segments(4), { ...limits, minCompactionLagMs: 2 }).end, 20)
  assert.equal(dirtyRange(segments(4), { ...limits, minCompactionLagMs: Infinity }).end, 0)
})

test('a log of an active segment alone has nothing to compact', () => {
  assert.deepEqual(dirtyRange([], limits), { firstDirty: 0, end: 0, ratio: 0 })
})

const sizes = { segmentBytes: 250, segmentIndexBytes: 1 << 20, indexIntervalBytes: 4096 }
const bases = (groups: { baseOffset: number }[][]) =>
  groups.map((group) => group.map(({ baseOffset }) => baseOffset))

test('groups hold no more bytes than a segment', () => {
  assert.deepEqual(bases(groupsOf(segments(5), sizes)), [[0, 10], [20, 30], [40]])
  assert.deepEqual(bases(groupsOf(segments(3), { ...sizes, segmentBytes: 200 })), [[0, 10], [20]])
})

test('a segment that is too large is a group of its own', () => {
  assert.deepEqual(bases(groupsOf(segments(3), { ...sizes, segmentBytes: 99 })), [[0], [10], [20]])
})

test('groups need no larger index than is allowed', () => {
  const small = { ...sizes, segmentBytes: 1000, indexIntervalBytes: 10 }
  // 21 entries of 12 bytes, and one to spare, are 210 bytes of log.
  const groups = groupsOf(segments(4), { ...small, segmentIndexBytes: 22 * 12 })
  assert.deepEqual(bases(groups), [
    [0, 10],
    [20, 30],
  ])
})

test('offsets of a group fit into 31 bits', () => {
  const at = (baseOffset: number, endOffset: number) => ({ baseOffset, endOffset, sizeBytes: 1 })
  const limit = 2 ** 31 - 1
  const [near, far] = [at(0, 10), at(10, limit)]
  assert.equal(groupsOf([near, far], sizes).length, 1)
  assert.equal(groupsOf([near, at(10, limit + 1)], sizes).length, 2)
})
