/**
 * The tables say what Kafka's schemas say: field by field in every version that Kafka 3.6.2 or
 * 4.3.1 has. Where the schemas do not lie beside the checkout, the bytes of Kafka's own classes in
 * golden.test.ts stand for them.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apis } from '../../src/apis/registry.js'
import type { AnyApi, Message } from '../../src/protocol/schema.js'
import {
  describeSchema,
  describeTable,
  holds,
  rangeOf,
  type Schema,
  schemasOf,
} from './kafka-schemas.js'

function compare(api: AnyApi, message: Message<unknown, unknown>, schema: Schema): void {
  const [min, max] = rangeOf(schema.validVersions)
  assert.equal(schema.apiKey, api.key)
  for (let version = min; version <= max; version++) {
    const where = `${message.name} v${version} against ${schema.release}`
    assert.equal(message.isFlexible(version), holds(schema.flexibleVersions, version), where)
    assert.deepEqual(describeTable(message, version), describeSchema(schema, version), where)
  }
}

for (const api of apis) {
  const requests = schemasOf(`${api.name}Request`)
  const responses = schemasOf(`${api.name}Response`)
  if (requests.length === 0) continue
  test(`the table of ${api.name} is Kafka's, field by field and version by version`, () => {
    for (const schema of requests) compare(api, api.request, schema)
    for (const schema of responses) compare(api, api.response, schema)
    const ranges = requests.map((schema) => rangeOf(schema.validVersions))
    const first = Math.min(...ranges.map(([min]) => min))
    const last = Math.max(...ranges.map(([, max]) => max))
    assert.deepEqual(api.versions, [first, last])
  })
}

test('a field that a table lacks, or has too much, is told apart', () => {
  const fetch = apis.find((api) => api.name === 'Fetch') ?? assert.fail()
  const lines = describeTable(fetch.request, 12)
  assert.ok(lines.includes('clusterId: string or null, tag 0 = null'))
  assert.ok(lines.includes('topics.partitions.lastFetchedEpoch: int32 = -1'))
  assert.ok(!describeTable(fetch.request, 11).some((line) => line.includes('lastFetchedEpoch')))
  assert.ok(!describeTable(fetch.request, 13).some((line) => line.startsWith('topics.topic:')))
})
