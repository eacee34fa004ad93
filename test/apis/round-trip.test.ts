/**
 * Every API of the registry, in every version and both directions, survives the way through bytes.
 * The values are made from the tables with a seed, so that an API which is added is covered at
 * once.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apis } from '../../src/apis/registry.js'
import { Reader, Writer } from '../../src/protocol/bytes.js'
import type { Part } from '../../src/protocol/parts.js'
import type { Message } from '../../src/protocol/schema.js'
import { seeded } from '../protocol/random.js'
import { completed, generateStruct } from './values.js'

const ROUNDS = 6

function bytesOf(parts: Part[]): Buffer {
  return Buffer.concat(parts.map((part) => (part instanceof Uint8Array ? part : assert.fail())))
}

function checkRoundTrip(message: Message<unknown, unknown>, version: number, seed: number): void {
  const value = generateStruct(message.type, version, seeded(seed))
  const where = `${message.name} v${version}, seed ${seed}`
  const writer = new Writer()
  message.write(writer, version, value)
  const reader = new Reader(bytesOf(writer.finish()))
  assert.equal(reader.remaining, writer.sizeBytes, where)
  const back = message.read(reader, version)
  assert.deepEqual(back, completed(message.type, value, version), where)
  assert.equal(reader.remaining, 0, where)
}

for (const api of apis) {
  test(`${api.name} comes back as it was sent, in every version and direction`, () => {
    const [min, max] = api.versions
    for (let version = min; version <= max; version++) {
      for (let round = 0; round < ROUNDS; round++) {
        checkRoundTrip(api.request, version, api.key * 1000 + version * 10 + round)
        checkRoundTrip(api.response, version, api.key * 1000 + version * 10 + round + 500_000)
      }
    }
  })
}

test('a message is read the same where bytes of a later version follow it', () => {
  for (const { request, versions } of apis) {
    const value = generateStruct(request.type, versions[1], seeded(7))
    const writer = new Writer()
    request.write(writer, versions[1], value)
    const longer = Buffer.concat([bytesOf(writer.finish()), Buffer.from('trailing')])
    const reader = new Reader(longer)
    const back = request.read(reader, versions[1])
    assert.deepEqual(back, completed(request.type, value, versions[1]), request.name)
    assert.equal(reader.remaining, 'trailing'.length)
  }
})
