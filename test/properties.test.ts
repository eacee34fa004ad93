import assert from 'node:assert/strict'
import { test } from 'node:test'
import { formatProperties, parseProperties } from '../src/properties.js'

const parsed = (text: string) => Object.fromEntries(parseProperties(text, 'x.properties'))

test('a key ends at an equals sign, a colon or white space', () => {
  assert.deepEqual(parsed('a=1\nb:2\nc 3\nd = 4\ne : 5\nf\t 6\n'), {
    a: '1',
    b: '2',
    c: '3',
    d: '4',
    e: '5',
    f: '6',
  })
})

test('only the first separator counts', () => {
  assert.deepEqual(parsed('listeners=PLAINTEXT://:9092=x'), { listeners: 'PLAINTEXT://:9092=x' })
})

test('a key without a value has an empty one', () => {
  assert.deepEqual(parsed('zookeeper.connect=\nalone'), { 'zookeeper.connect': '', alone: '' })
})

test('comments and blank lines are left out', () => {
  assert.deepEqual(parsed('#a=1\n  ! b=2\n\n \t\nc=3 # not one\n'), { c: '3 # not one' })
})

test('a comment that ends in a backslash does not take the next line', () => {
  assert.deepEqual(parsed('# note \\\na=1'), { a: '1' })
})

test('an odd number of backslashes continues a line, an even one does not', () => {
  assert.deepEqual(parsed('a=1,\\\n   2\nb=x\\\\\nc=3\n'), { a: '1,2', b: 'x\\', c: '3' })
})

test('a continuation at the end of the text is complete', () => {
  assert.deepEqual(parsed('a=1\\'), { a: '1' })
})

test('every kind of line break ends a line', () => {
  assert.deepEqual(parsed('a=1\r\nb=2\rc=3\n'), { a: '1', b: '2', c: '3' })
})

test('white space before a value is dropped and behind it kept', () => {
  assert.deepEqual(parsed('a =  1 '), { a: '1 ' })
})

test('escapes stand for the characters that they name', () => {
  assert.deepEqual(parsed('a\\ b\\=c=\\t\\u00e9\\q\\\\'), { 'a b=c': '\té' + 'q\\' })
})

test('a unicode escape that is cut is an error', () => {
  assert.throws(() => parsed('a=\\u00g1'), { code: 'CORRUPT', message: /^x\.properties: \\u/ })
})

test('the last value of a key holds', () => {
  assert.deepEqual(parsed('a=1\na=2'), { a: '2' })
})

test('what was written is read back', () => {
  const pairs = [
    ['plain', 'value'],
    [' #!=:\\k\t', '  leading, trailing '],
    ['é😀', '\u0000\r\n\f'],
    ['empty', ''],
  ] as const
  assert.deepEqual([...parseProperties(formatProperties(pairs), '')], pairs)
})
