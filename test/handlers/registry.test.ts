/** Every API and version that the broker advertises is answered, and only those. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { apiVersions } from '../../src/apis/api-versions.js'
import { produce } from '../../src/apis/produce.js'
import { handlers } from '../../src/handlers/registry.js'
import type { AnyApi } from '../../src/protocol/schema.js'
import { generateStruct, type Values } from '../apis/values.js'
import { seeded } from '../protocol/random.js'
import { startBroker } from '../support/broker.js'
import { Wire } from '../support/wire.js'

/** A request of which every field is zero, empty or null. */
function minimal(api: AnyApi, version: number): Values {
  const made = generateStruct(api.request.type, version, seeded(1))
  const { zero } = api.request.type
  const value = Object.fromEntries(Object.entries(zero as Values).filter(([name]) => name in made))
  return api.key === produce.key ? { ...value, acks: 1 } : value
}

async function start(t: TestContext) {
  const config = { 'group.initial.rebalance.delay.ms': 0, 'auto.create.topics.enable': false }
  return startBroker(t, { config })
}

test('ApiVersions names what the registry serves, in every version', async (t) => {
  const { wire } = await start(t)
  const served = [...handlers.values()].map(({ api, versions }) => [api.key, ...versions])
  for (const version of [0, 1, 2, 3, 4]) {
    const body = { clientSoftwareName: 'seglog', clientSoftwareVersion: '1' }
    const { errorCode, apiKeys } = await wire.call(apiVersions, version, body)
    assert.equal(errorCode, 0)
    const told = apiKeys.map(({ apiKey, minVersion, maxVersion }) => [
      apiKey,
      minVersion,
      maxVersion,
    ])
    assert.deepEqual(told, served)
  }
})

test('every advertised version of every API answers a minimal request', async (t) => {
  const { broker } = await start(t)
  for (const { api, versions } of handlers.values()) {
    for (let version = versions[0]; version <= versions[1]; version++) {
      const wire = await Wire.connect(t, broker.port)
      const startMs = performance.now()
      await wire.call(api, version, minimal(api, version))
      const ms = performance.now() - startMs
      assert.ok(ms < 1000, `${api.name} v${version} took ${ms} ms`)
      wire.socket.destroy()
    }
  }
})

test('random requests harm nobody but their own connection', async (t) => {
  const { broker, wire } = await start(t)
  for (const { api, versions } of handlers.values()) {
    for (let version = versions[0]; version <= versions[1]; version++) {
      const other = await Wire.connect(t, broker.port)
      const body = generateStruct(api.request.type, version, seeded(api.key * 100 + version))
      if ('maxWaitMs' in body) body.maxWaitMs = 1
      const answered = other.call(api, version, body).then(
        () => true,
        () => false,
      )
      const startMs = performance.now()
      // A join may wait as long as it asks to, so a connection may also just stay open.
      await Promise.race([answered, new Promise((resolve) => setTimeout(resolve, 100))])
      assert.ok(performance.now() - startMs < 2000)
      other.socket.destroy()
    }
  }
  assert.equal((await wire.call(apiVersions, 0, {})).errorCode, 0)
})

test('a version above those of ApiVersions is answered in the form of version 0', async (t) => {
  const { wire } = await start(t)
  for (const version of [5, 99, -1]) {
    const header = Buffer.alloc(16)
    header.writeInt16BE(18)
    header.writeInt16BE(version, 2)
    header.writeInt32BE(7, 4)
    wire.writeFrame(header)
    const frame = Buffer.from(await wire.nextFrame())
    const expected = Buffer.from('00000007' + '0023' + '00000001' + '0012' + '0000' + '0004', 'hex')
    assert.deepEqual(frame, expected)
  }
})

test('the header of an ApiVersions response has no tags, whatever its version', async (t) => {
  const { wire } = await start(t)
  wire.post(apiVersions, 3, { clientSoftwareName: 'a', clientSoftwareVersion: '1' })
  const frame = Buffer.from(await wire.nextFrame())
  assert.equal(frame.readInt16BE(4), 0)
  assert.equal(frame[6], handlers.size + 1)
})

for (const [name, version] of [
  ['a b!', '1'],
  ['', '1'],
  ['ok', ''],
  ['-dash', '1'],
] as const) {
  test(`"${name}" with version "${version}" is told that this is no name`, async (t) => {
    const { wire } = await start(t)
    const body = { clientSoftwareName: name, clientSoftwareVersion: version }
    const { errorCode, apiKeys } = await wire.call(apiVersions, 3, body)
    assert.deepEqual([errorCode, apiKeys.length], [42, 0])
  })
}

for (const [what, head] of [
  ['an unknown API', '7000 0000'],
  ['a version that is not served', '0003 0063'],
  ['a negative version', '0003 ffff'],
  ['an API that is not for clients', '0004 0000'],
] as const) {
  test(`${what} closes the connection, and nothing else`, async (t) => {
    const { broker, wire } = await start(t)
    const stranger = await Wire.connect(t, broker.port)
    stranger.writeFrame(Buffer.from(`${head} 00000001 ffff 0000 0000`.replaceAll(' ', ''), 'hex'))
    await stranger.closed
    assert.equal((await wire.call(apiVersions, 0, {})).errorCode, 0)
  })
}
