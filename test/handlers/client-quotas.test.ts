import assert from 'node:assert/strict'
import { test } from 'node:test'
import { alterClientQuotas, describeClientQuotas } from '../../src/apis/client-quotas.js'
import { startBroker } from '../support/broker.js'
import type { Wire } from '../support/wire.js'

interface Component {
  entityType: string
  matchType: number
  match: string | null
}

async function describe(wire: Wire, components: Component[], version = 1) {
  const body = { components, strict: false }
  const { errorCode, entries } = await wire.call(describeClientQuotas, version, body)
  return [errorCode, entries]
}

test('there are no quotas, whoever they are asked for', async (t) => {
  const { wire } = await startBroker(t)
  const user = { entityType: 'user', matchType: 0, match: 'u' }
  const anyClient = { entityType: 'client-id', matchType: 2, match: null }
  for (const version of [0, 1]) {
    assert.deepEqual(await describe(wire, [], version), [0, []])
    assert.deepEqual(await describe(wire, [user, anyClient], version), [0, []])
    assert.deepEqual(
      await describe(wire, [{ entityType: 'ip', matchType: 1, match: null }], version),
      [0, []],
    )
  }
})

test('a filter that contradicts itself is refused', async (t) => {
  const { wire } = await startBroker(t)
  const user = { entityType: 'user', matchType: 0, match: 'u' }
  const ip = { entityType: 'ip', matchType: 2, match: null }
  const cases: Component[][] = [
    [user, user],
    [user, ip],
    [{ ...user, match: null }],
    [{ ...user, matchType: 1 }],
    [{ ...ip, match: '127.0.0.1' }],
    [{ ...ip, matchType: 3 }],
    [{ ...user, entityType: '' }],
  ]
  for (const components of cases) assert.deepEqual(await describe(wire, components), [42, null])
  assert.deepEqual(await describe(wire, [{ ...user, entityType: 'nix' }]), [35, null])
})

test('a quota that would not hold is refused, each entity for itself', async (t) => {
  const { wire } = await startBroker(t)
  const entity = [{ entityType: 'user', entityName: 'u' }]
  const ops = [{ key: 'producer_byte_rate', value: 1000.5, remove: false }]
  for (const version of [0, 1]) {
    const body = { entries: [{ entity, ops }], validateOnly: false }
    const { entries } = await wire.call(alterClientQuotas, version, body)
    assert.deepEqual(
      entries.map(({ errorCode }) => errorCode),
      [42],
    )
    assert.deepEqual(entries[0]?.entity, entity)
  }
})
