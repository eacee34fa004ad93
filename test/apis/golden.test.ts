/**
 * Bytes that Kafka's own message classes wrote, in golden.jsonl: one message a line with its value
 * and the release whose classes wrote it (4.3.1, and 3.6.2 for versions that 4.x dropped). Bytes in
 * values are base64.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { apiByName, apis } from '../../src/apis/registry.js'
import { Reader, Writer } from '../../src/protocol/bytes.js'
import type { Message } from '../../src/protocol/schema.js'
import { isMalformed } from '../protocol/malformed.js'
import { completed, fromJson } from './values.js'

interface Golden {
  api: string
  direction: 'request' | 'response'
  version: number
  kafka: string
  value: Record<string, unknown>
  hex: string
}

const path = fileURLToPath(new URL('../../../test/apis/golden.jsonl', import.meta.url))
const goldens: Golden[] = readFileSync(path, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Golden)

function messageOf({ api, direction }: Golden): Message<unknown, unknown> {
  return (apiByName(api) ?? assert.fail(`no table of ${api}`))[direction]
}

test('where bytes of an API were captured, they were in every version and direction', () => {
  const captured = new Set(goldens.map((golden) => `${messageOf(golden).name} v${golden.version}`))
  const names = new Set(goldens.map(({ api }) => api))
  assert.ok(names.size >= 31)
  for (const { request, response, versions } of apis.filter(({ name }) => names.has(name))) {
    for (let version = versions[0]; version <= versions[1]; version++) {
      assert.ok(captured.has(`${request.name} v${version}`), `${request.name} v${version}`)
      assert.ok(captured.has(`${response.name} v${version}`), `${response.name} v${version}`)
    }
  }
})

test('there are captured bytes with tagged fields', () => {
  const names = ['currentLeader', 'nodeEndpoints', 'replicaState', 'finalizedFeaturesEpoch']
  for (const name of names) {
    const found = goldens.some(({ value }) => JSON.stringify(value).includes(`"${name}"`))
    assert.ok(found, name)
  }
})

for (const api of new Set(goldens.map((golden) => golden.api))) {
  const own = goldens.filter((golden) => golden.api === api)

  test(`${api} is written byte for byte as Kafka writes it`, () => {
    for (const golden of own) {
      const message = messageOf(golden)
      const writer = new Writer()
      message.write(writer, golden.version, fromJson(message.type, golden.value))
      const parts = writer.finish().filter((part) => part instanceof Uint8Array)
      const hex = Buffer.concat(parts).toString('hex')
      assert.equal(hex, golden.hex, `${message.name} v${golden.version}`)
    }
  })

  test(`${api} is read as Kafka meant it`, () => {
    for (const golden of own) {
      const message = messageOf(golden)
      const reader = new Reader(Buffer.from(golden.hex, 'hex'))
      const value = fromJson(message.type, golden.value)
      const expected = completed(message.type, value, golden.version)
      const where = `${message.name} v${golden.version}`
      assert.deepEqual(message.read(reader, golden.version), expected, where)
      assert.equal(reader.remaining, 0, where)
    }
  })

  test(`${api} is malformed where a byte of it is missing at the end`, () => {
    for (const golden of own) {
      const message = messageOf(golden)
      const whole = Buffer.from(golden.hex, 'hex')
      for (let length = 0; length < whole.length; length++) {
        const reader = new Reader(whole.subarray(0, length))
        assert.throws(() => message.read(reader, golden.version), isMalformed)
      }
    }
  })
}
