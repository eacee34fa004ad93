/** Sessions of Fetch (KIP-227), and on a simulated clock what bounds them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { deleteTopics } from '../../src/apis/delete-topics.js'
import { fetch } from '../../src/apis/fetch.js'
import type { BrokerOptions } from '../../src/broker.js'
import { FetchSessions, type FetchTurn, type Found } from '../../src/handlers/fetch-sessions.js'
import type { RequestOf } from '../../src/protocol/schema.js'
import { ZERO_UUID } from '../../src/protocol/types.js'
import {
  batchOf,
  createTopic,
  type FetchWish,
  fetchBody,
  produceTo,
  startBroker,
} from '../support/broker.js'
import { SimEnv } from '../support/sim-env.js'
import type { Wire } from '../support/wire.js'

type Request = RequestOf<typeof fetch>

const batch = batchOf('value')

async function start(t: TestContext, options: BrokerOptions = {}) {
  const { wire } = await startBroker(t, options)
  const topicId = await createTopic(wire, 't', { partitions: 3 })
  return { wire, topicId }
}

interface Ask {
  id?: number
  epoch?: number
  wishes?: FetchWish[]
  forgotten?: number[]
  version?: number
}

/** The session's id, the error, and of each partition told: index, code and bytes. */
async function ask(wire: Wire, { id = 0, epoch = 0, wishes = [], forgotten, version = 12 }: Ask) {
  const partitions = forgotten ?? []
  const forgottenTopicsData =
    partitions.length > 0 ? [{ topic: 't', topicId: ZERO_UUID, partitions }] : []
  const body = { ...fetchBody(wishes), sessionId: id, sessionEpoch: epoch, forgottenTopicsData }
  const answer = await wire.call(fetch, version, body)
  const told = answer.responses.flatMap(({ partitions: each }) =>
    each.map(({ partitionIndex, errorCode, records }) => [
      partitionIndex,
      errorCode,
      records instanceof Uint8Array ? records.length : -1,
    ]),
  )
  return { id: answer.sessionId, code: answer.errorCode, told }
}

const both: FetchWish[] = [0, 1].map((partition) => ({ topic: 't', partition }))

test('a session repeats what it was told of partitions, and tells only what is new', async (t) => {
  const { wire } = await start(t)
  const first = await ask(wire, { wishes: both })
  assert.ok(first.id > 0)
  assert.deepEqual(first.told, [
    [0, 0, 0],
    [1, 0, 0],
  ])
  const { id } = first
  assert.deepEqual(await ask(wire, { id, epoch: 1 }), { id, code: 0, told: [] })
  await produceTo(wire, 't', batch, { partition: 1 })
  const news = { id, code: 0, told: [[1, 0, batch.length]] }
  assert.deepEqual(await ask(wire, { id, epoch: 2 }), news)
  // The client did not move, so the records come again.
  assert.deepEqual(await ask(wire, { id, epoch: 3 }), news)
  const moved = [{ topic: 't', partition: 1, offset: 1 }]
  assert.deepEqual((await ask(wire, { id, epoch: 4, wishes: moved })).told, [])
})

test('a partition joins a session, and another leaves it', async (t) => {
  const { wire } = await start(t)
  const { id } = await ask(wire, { wishes: [both[0]!] })
  const joined = await ask(wire, { id, epoch: 1, wishes: [both[1]!] })
  assert.deepEqual(joined.told, [[1, 0, 0]])
  await produceTo(wire, 't', batch, { partition: 0 })
  await produceTo(wire, 't', batch, { partition: 1 })
  const left = await ask(wire, { id, epoch: 2, forgotten: [0] })
  assert.deepEqual(left.told, [[1, 0, batch.length]])
})

test('a session whose last partition left is over', async (t) => {
  const { wire } = await start(t)
  const { id } = await ask(wire, { wishes: [both[0]!] })
  const over = await ask(wire, { id, epoch: 1, forgotten: [0] })
  assert.deepEqual(over, { id: 0, code: 0, told: [] })
  assert.equal((await ask(wire, { id, epoch: 2 })).code, 70)
})

test('an error is told each time, and so is its end', async (t) => {
  const { wire } = await start(t)
  const beyond = [{ topic: 't', partition: 0, offset: 1 }]
  const { id } = await ask(wire, { wishes: beyond })
  assert.deepEqual((await ask(wire, { id, epoch: 1 })).told, [[0, 1, 0]])
  await produceTo(wire, 't', batch)
  assert.deepEqual((await ask(wire, { id, epoch: 2 })).told, [[0, 0, 0]])
  assert.deepEqual((await ask(wire, { id, epoch: 3 })).told, [])
})

test('an unknown session, a wrong epoch and another kind of names are refused', async (t) => {
  const { wire } = await start(t)
  assert.equal((await ask(wire, { id: 5, epoch: 1 })).code, 70)
  const { id } = await ask(wire, { wishes: both })
  assert.deepEqual(await ask(wire, { id, epoch: 2 }), { id: 0, code: 71, told: [] })
  assert.equal((await ask(wire, { id, epoch: 1, version: 13 })).code, 106)
  assert.equal((await ask(wire, { id, epoch: 1 })).code, 0)
})

test('epoch -1 ends a session, and without one keeps none', async (t) => {
  const { wire } = await start(t)
  const { id } = await ask(wire, { wishes: both })
  assert.equal((await ask(wire, { id, epoch: -1, wishes: both })).id, 0)
  assert.equal((await ask(wire, { id, epoch: 1 })).code, 70)
})

test('epoch 0 with an id ends that session and begins another', async (t) => {
  const { wire } = await start(t)
  const { id } = await ask(wire, { wishes: both })
  const next = await ask(wire, { id, epoch: 0, wishes: both })
  assert.ok(next.id > 0 && next.id !== id)
  assert.equal((await ask(wire, { id, epoch: 1 })).code, 70)
})

test('a topic deleted within a session is unknown as a partition, not as an id', async (t) => {
  const { wire, topicId } = await start(t)
  const { id } = await ask(wire, { version: 13, wishes: [{ topicId }] })
  const gone = [{ name: 't', topicId: ZERO_UUID }]
  await wire.call(deleteTopics, 6, { topics: gone, timeoutMs: 5000 })
  assert.deepEqual((await ask(wire, { version: 13, id, epoch: 1 })).told, [[0, 3, 0]])
  assert.deepEqual((await ask(wire, { version: 13, wishes: [{ topicId }] })).told, [[0, 100, 0]])
})

test('a partition that is named twice is answered once, as it was named last', async (t) => {
  const { wire } = await start(t)
  await produceTo(wire, 't', batch)
  const twice = [both[0]!, { topic: 't', partition: 0, offset: 1 }]
  assert.deepEqual((await ask(wire, { epoch: -1, wishes: twice })).told, [[0, 0, 0]])
})

function request(partitions: number): Request {
  const wishes = Array.from({ length: partitions }, (_, partition) => ({ topic: 't', partition }))
  const { topics, ...rest } = fetchBody(wishes)
  return { ...rest, topics, sessionId: 0, sessionEpoch: 0, forgottenTopicsData: [] } as never
}

/** Begins a session and gives its id, 0 where there was no room. */
function begin(sessions: FetchSessions, partitions = 1): number {
  const turn = sessions.begin(request(partitions), 12)
  assert.ok(typeof turn === 'object')
  return turn.settle([]).sessionId
}

test('a full house keeps no further session until one was idle for two minutes', async () => {
  const env = new SimEnv()
  const sessions = new FetchSessions(env, 2)
  const ids = [begin(sessions), begin(sessions)]
  assert.ok(ids.every((id) => id > 0))
  assert.equal(begin(sessions), 0)
  await env.advance(119_999)
  assert.equal(begin(sessions), 0)
  const first = sessions.begin({ ...request(0), sessionId: ids[0]!, sessionEpoch: 1 }, 12)
  assert.ok(typeof first === 'object')
  await env.advance(1)
  assert.ok(begin(sessions) > 0)
  assert.equal(sessions.size, 2)
  // The one that was used is still there, the idle one is not.
  assert.ok(
    typeof sessions.begin({ ...request(0), sessionId: ids[0]!, sessionEpoch: 2 }, 12) === 'object',
  )
  assert.equal(sessions.begin({ ...request(0), sessionId: ids[1]!, sessionEpoch: 1 }, 12), 70)
})

test('sessions remember 200,000 partitions together at most', () => {
  const sessions = new FetchSessions(new SimEnv(), 1000)
  assert.ok(begin(sessions, 150_000) > 0)
  assert.equal(begin(sessions, 50_001), 0)
  assert.ok(begin(sessions, 50_000) > 0)
})

/** What is told of two partitions that were found like this: index and watermark. */
function settle(turn: FetchTurn, found: { highWatermark: number; records?: Uint8Array }[]) {
  const { told } = turn.settle(
    turn.wishes.map((wish) => {
      const { partition } = wish.partition
      const response = { partitionIndex: partition, errorCode: 0, ...found[partition] }
      return { wish, response: response as Found['response'] }
    }),
  )
  return told.map(({ response }) => [response.partitionIndex, response.highWatermark])
}

/** The turns of one session of two partitions, one after the other. */
function turnsOf(sessions: FetchSessions): () => FetchTurn {
  const first = sessions.begin(request(2), 12)
  assert.ok(typeof first === 'object')
  const both = first.wishes.map((wish) => {
    const { partition } = wish.partition
    const response = { partitionIndex: partition, errorCode: 0, highWatermark: 7 }
    return { wish, response: response as Found['response'] }
  })
  const { sessionId } = first.settle(both)
  let sessionEpoch = 0
  return () => {
    sessionEpoch++
    const turn = sessions.begin({ ...request(0), sessionId, sessionEpoch }, 12)
    assert.ok(typeof turn === 'object')
    return turn
  }
}

test('a watermark that moved is told without any record', () => {
  const next = turnsOf(new FetchSessions(new SimEnv(), 10))
  assert.deepEqual(settle(next(), [{ highWatermark: 7 }, { highWatermark: 7 }]), [])
  assert.deepEqual(settle(next(), [{ highWatermark: 7 }, { highWatermark: 8 }]), [[1, 8]])
  assert.deepEqual(settle(next(), [{ highWatermark: 7 }, { highWatermark: 8 }]), [])
})

test('a partition that gave records is looked at last the next time', () => {
  const next = turnsOf(new FetchSessions(new SimEnv(), 10))
  const orderOf = ({ wishes }: FetchTurn) => wishes.map(({ partition }) => partition.partition)
  const first = next()
  assert.deepEqual(orderOf(first), [0, 1])
  settle(first, [{ highWatermark: 9, records: batch }, { highWatermark: 7 }])
  const second = next()
  assert.deepEqual(orderOf(second), [1, 0])
  settle(second, [{ highWatermark: 9 }, { highWatermark: 9, records: batch }])
  assert.deepEqual(orderOf(next()), [0, 1])
})
