/**
 * The versions that a broker names in ApiVersions, beside those of Apache Kafka 4.3.1 and 3.6.2.
 * What is served ends no earlier than 4.3.1, and begins no later than 3.6.2, so that a client of
 * either release finds a version in common; every difference is named in docs/protocol.md.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { apiVersions } from '../../src/apis/api-versions.js'
import { apiByKey } from '../../src/apis/registry.js'
import { startBroker } from '../support/broker.js'
import { kafkaVersions, type Range } from './kafka-versions.js'

const page = readFileSync(join(import.meta.dirname, '../../../docs/protocol.md'), 'utf8')
const served = new Map<number, Range>()

test('a broker names each API once', async (t) => {
  const { wire } = await startBroker(t)
  const software = { clientSoftwareName: 'test', clientSoftwareVersion: '1.0' }
  const { errorCode, apiKeys } = await wire.call(apiVersions, 4, software)
  assert.equal(errorCode, 0)
  for (const { apiKey, minVersion, maxVersion } of apiKeys) {
    assert.ok(!served.has(apiKey), String(apiKey))
    served.set(apiKey, [minVersion, maxVersion])
  }
  assert.ok(served.size > 30)
})

/** The rows of a section of the page: the first column. */
function rowsOf(title: string): string[] {
  const section = page.split(/^## /m).find((each) => each.startsWith(`${title}\n`)) ?? ''
  return section.split('\n').flatMap((line) => /^\| (.+) \| .+ \|$/.exec(line)?.[1] ?? [])
}

/** The keys that a text has in parentheses: `(4 to 7, 56)`. */
function keysIn(text: string): number[] {
  return [...text.matchAll(/\(([\d, to]+)\)/g)].flatMap(([, list = '']) =>
    list.split(', ').flatMap((each) => {
      const [from = NaN, to = from] = each.split(' to ').map(Number)
      return Array.from({ length: to - from + 1 }, (_, index) => from + index)
    }),
  )
}

const leftOut = new Set(rowsOf('Left out').flatMap(keysIn))
const shown = (range: Range | undefined) => (range ? range.join(' to ') : 'none')

for (const { key, name, present, old } of kafkaVersions) {
  const kafka = `Kafka 4.3.1 ${shown(present)}, 3.6.2 ${shown(old)}`
  test(`${key} ${name}: ${kafka}`, (t) => {
    const own = served.get(key)
    t.diagnostic(`${key} ${name}: served ${shown(own)}; ${kafka}`)
    if (own === undefined) {
      assert.ok(leftOut.has(key), 'not served, and the page does not say so')
      return
    }
    assert.equal(apiByKey(key)?.name, name)
    assert.equal(own[1], present?.[1])
    const first = Math.min(old?.[0] ?? Number.POSITIVE_INFINITY, present?.[0] ?? 0)
    assert.equal(own[0], first)
  })
}

test('nothing is served that neither release has', () => {
  const known = new Set(kafkaVersions.map(({ key }) => key))
  assert.deepEqual(
    [...served.keys()].filter((key) => !known.has(key)),
    [],
  )
})

test('nothing is served that the page leaves out', () => {
  assert.deepEqual(
    [...served.keys()].filter((key) => leftOut.has(key)),
    [],
  )
})

test('the page names the APIs that are served from older versions on than by 4.3.1', () => {
  const row = rowsOf('Other answers than those of Kafka 4.3.1').find((each) =>
    each.startsWith('Older versions: '),
  )
  const named = row?.split(';')[0]?.match(/\b[A-Z]\w+(?= from 0|,| and )/g)
  const older = kafkaVersions.filter(
    ({ key, present }) => (served.get(key)?.[0] ?? Infinity) < (present?.[0] ?? 0),
  )
  assert.deepEqual(named?.sort(), older.map(({ name }) => name).sort())
})
