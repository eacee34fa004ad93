/** Every store of the suite `log` that is here gives back what it was given, in order. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { groupsOf } from '../../../bench/log/phases.js'
import { missingStore, type StoreKind } from '../../../bench/log/store.js'
import { storeNamed, stores } from '../../../bench/log/stores.js'
import { temporaryDirectory } from '../../support/tmp.js'

async function roundTrip(kind: StoreKind, directory: string, durable: boolean) {
  const store = await kind.open(directory, durable)
  try {
    const groups = [...groupsOf({ sizeBytes: 100, perCall: 1 }).slice(0, 3)]
    groups.push(...groupsOf({ sizeBytes: 3000, perCall: 500 }).slice(0, 1))
    for (const group of groups) {
      await (durable ? store.appendDurable(group) : store.append(group))
    }
    const found: Buffer[] = []
    await store.read((value) => {
      found.push(Buffer.from(value))
      return true
    })
    return { given: groups.flat(), found, store }
  } finally {
    await store.close()
  }
}

for (const kind of stores.filter((store) => missingStore(store) === undefined)) {
  for (const durable of [false, true]) {
    test(`${kind.name} reads back what was appended${durable ? ' durably' : ''}`, async (t) => {
      const { given, found } = await roundTrip(kind, temporaryDirectory(t), durable)
      assert.deepEqual(found, given)
    })
  }

  test(`${kind.name} ends a read where the reader says so`, async (t) => {
    const store = await kind.open(temporaryDirectory(t), false)
    await store.append(groupsOf({ sizeBytes: 10, perCall: 100 })[0]!)
    let visited = 0
    await store.read(() => ++visited < 7)
    await store.close()
    assert.equal(visited, 7)
  })
}

test('values of one size differ and are the same in every process', () => {
  const groups = groupsOf({ sizeBytes: 64, perCall: 2 })
  assert.equal(new Set(groups.flat().map((value) => value.toString('hex'))).size, groups.length * 2)
  assert.deepEqual(groupsOf({ sizeBytes: 64, perCall: 2 }), groups)
})

test('a store whose package is not installed says how to get it', () => {
  const reason = missingStore({ ...storeNamed('lmdb'), package: 'no-such-store' })
  assert.match(reason ?? '', /no-such-store is not installed: npm run bench/)
})
