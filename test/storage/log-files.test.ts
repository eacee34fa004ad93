import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  deletedDirectory,
  isDeletedDirectory,
  parsePartitionDirectory,
  partitionDirectory,
  segmentBaseOffset,
  segmentName,
} from '../../src/storage/log-files.js'

test('a segment is named by its base offset in twenty digits', () => {
  assert.equal(segmentName(0), '00000000000000000000')
  assert.equal(segmentName(2 ** 31 + 10), '00000000002147483658')
  assert.equal(segmentBaseOffset('00000000002147483658.log'), 2147483658)
})

test('other files are no segments', () => {
  for (const name of ['0.log', '00000000000000000000.index', '00000000000000000000.log.deleted']) {
    assert.equal(segmentBaseOffset(name), undefined)
  }
})

test('a base offset above 2^53 - 1 is not taken for another one', () => {
  assert.equal(segmentBaseOffset('09007199254740993000.log'), undefined)
})

test('a folder is named by topic and partition, and read back, dashes and all', () => {
  const partition = { topic: 'a-1-b', partition: 12 }
  assert.equal(partitionDirectory(partition), 'a-1-b-12')
  assert.deepEqual(parsePartitionDirectory('a-1-b-12'), partition)
})

test('folders that are set aside or foreign are no partitions', () => {
  for (const name of ['a', 'a-', '-1', 'a-01', 'a-2147483648', 'a-0.0123-delete', 'a-0-future']) {
    assert.equal(parsePartitionDirectory(name), undefined, name)
  }
})

test('a partition being deleted has a name that is no longer than a file may have', () => {
  const unique = 'a'.repeat(32)
  for (const length of [1, 213, 214, 249]) {
    const name = deletedDirectory({ topic: 't'.repeat(length), partition: 12 }, unique)
    assert.ok(name.length <= 255)
    assert.ok(isDeletedDirectory(name))
    assert.equal(parsePartitionDirectory(name), undefined)
  }
})
