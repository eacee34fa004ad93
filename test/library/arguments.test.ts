import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import {
  type AppendOptions,
  type OpenLogOptions,
  openLog,
  type ReadOptions,
  type RecordInput,
} from '../../src/index.js'
import { temporaryDirectory } from '../support/tmp.js'

async function open(t: TestContext, options?: OpenLogOptions) {
  const log = await openLog(temporaryDirectory(t), options)
  t.after(() => log.close())
  return log
}

const refused = (text: RegExp) => (error: unknown) => {
  assert.ok(error instanceof Error && 'code' in error)
  assert.equal(error.code, 'BAD_ARGUMENT')
  assert.match(error.message, text)
  return true
}

test('options of another type or name are refused before anything is touched', async (t) => {
  const directory = join(temporaryDirectory(t), 'log-0')
  const wrong: [unknown, RegExp][] = [
    [5, /^openLog takes an object of segmentBytes, .*, not 5$/],
    [{ flush: 5 }, /^flush takes an object of messages, ms, not 5$/],
    [{ flush: { message: 5 } }, /^flush has no option "message"; it takes messages, ms$/],
    [{ flush: { messages: '5' } }, /^flush\.messages is a whole number .*, not the text "5"$/],
    [{ segmentByte: 1 }, /^openLog has no option "segmentByte"; it takes segmentBytes/],
    [{ segmentBytes: 0 }, /^segmentBytes is a whole number from 1 to 2\^31 - 1, not 0$/],
    [{ decompressedBytesMax: Number.NaN }, /^decompressedBytesMax .*, not NaN$/],
    [{ env: 1 }, /^env is an Env, not 1$/],
  ]
  for (const [options, text] of wrong) {
    await assert.rejects(openLog(directory, options as OpenLogOptions), refused(text))
  }
  assert.deepEqual(readdirSync(join(directory, '..')), [])
})

test('a directory must have a name', async () => {
  for (const [name, text] of [
    ['', /not the text ""$/],
    [undefined, /not undefined$/],
    ['a\0b', /^directory is the path of a folder/],
  ] as const) {
    await assert.rejects(openLog(name as string), refused(text))
  }
})

test('what is no record is refused with its index, its field and what was given', async (t) => {
  const log = await open(t)
  const wrong: [unknown, RegExp][] = [
    ['hello', /^records is an array, not the text "hello"$/],
    [undefined, /^records is an array, not undefined$/],
    [{ value: 'a' }, /^records is an array, not an object$/],
    [[], /^records is empty/],
    [
      ['hello'],
      /^records\[0\] is an object of key, value, headers, timestamp, not the text "hello"$/,
    ],
    [[null], /^records\[0\] .*, not null$/],
    [[{ value: 'a' }, Buffer.from('b')], /^records\[1\] .*, not a Buffer$/],
    [[['k', 'v']], /^records\[0\] .*, not an array$/],
    [[{ val: 'x' }], /^records\[0\] has no "val"; it takes key, value/],
    [[{ value: new ArrayBuffer(3) }], /\.value is bytes, text or null, not an ArrayBuffer$/],
    [[{ value: 7 }], /^records\[0\]\.value is bytes, text or null, not 7$/],
    [[{ value: 'a' }, { key: {} }], /^records\[1\]\.key is bytes, text or null, not an object$/],
    [[{ value: 'a', headers: 'h' }], /^records\[0\]\.headers .*, not the text "h"$/],
    [[{ value: 'a', headers: 5 }], /^records\[0\]\.headers .*, not 5$/],
    [[{ value: 'a', headers: new Map([['a', 'b']]) }], /^records\[0\]\.headers .*, not a Map$/],
    [[{ value: 'a', headers: [{ key: 1 }] }], /the key of a header is text, not 1$/],
    [[{ value: 'a', headers: ['h'] }], /the key of a header is text, not the text "h"$/],
    [[{ value: 'a', headers: { g: 'a', h: 5 } }], /\.headers: the value of "h" is bytes.*, not 5$/],
    [[{ value: 'a', timestamp: '5' }], /^records\[0\]\.timestamp .*, not the text "5"$/],
    [[{ value: 'a' }, { value: 'b', timestamp: 0.5 }], /^records\[1\]\.timestamp .*, not 0\.5$/],
  ]
  for (const [records, text] of wrong) {
    assert.throws(() => log.append(records as RecordInput[]), refused(text))
    await assert.rejects(log.appendDurable(records as RecordInput[]), refused(text))
  }
  assert.equal(log.endOffset, 0n)
})

test('options of an append are checked', async (t) => {
  const log = await open(t)
  const append = (options: unknown) => () => log.append([{ value: 'a' }], options as AppendOptions)
  assert.throws(append({ compresion: 'gzip' }), refused(/^append has no option "compresion"/))
  assert.throws(append({ compression: 1 }), refused(/^compression is the name of a codec, not 1$/))
  assert.throws(append('gzip'), refused(/not the text "gzip"$/))
  assert.equal(log.endOffset, 0n)
})

test('ranges of a read are checked', async (t) => {
  const log = await open(t)
  log.append([{ value: 'a' }])
  const wrong: [unknown, RegExp][] = [
    [{ maxBytes: Number.NaN }, /^maxBytes is a whole number of bytes .*, not NaN$/],
    [{ maxBytes: -1 }, /^maxBytes .*, not -1$/],
    [{ maxBytes: '5' }, /^maxBytes .*, not the text "5"$/],
    [{ from: 0.5 }, /^from is no offset .*: 0\.5$/],
    [{ to: null }, /^to is no offset .*: null$/],
    [{ form: 0 }, /^read has no option "form"; it takes from, to, maxBytes$/],
    [0, /not 0$/],
  ]
  for (const [options, text] of wrong) {
    await assert.rejects(log.read(options as ReadOptions).next(), refused(text))
    await assert.rejects(log.readBatches(options as ReadOptions).next(), refused(text))
  }
  assert.throws(() => log.slice(0, Number.NaN), refused(/^maxBytes /))
  assert.throws(() => log.offsetForTimestamp(Number.NaN), refused(/^timestamp .*, not NaN$/))
})
