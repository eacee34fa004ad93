/**
 * What both brokers hold before they are compared: the same topics with the same records, offsets
 * that a group committed, a group with one member, and coordinators that are ready.
 */
import { buildBatch } from '../../src/records/encoder.js'
import { type Answer, type Body, rows, type Side } from './differential-side.js'
import { sleep } from './harness.js'

const keyed = (key: string, value: string | null, timestamp: number) => {
  return { key: Buffer.from(key), value: value === null ? null : Buffer.from(value), timestamp }
}
export const TIME = 1_700_000_000_000
export const batch = buildBatch([
  keyed('a', '1', TIME + 1),
  keyed('b', '2', TIME + 3),
  keyed('a', '3', TIME + 2),
])
/** A subscription to `df-file` in the form of consumers. */
export const metadata = Buffer.from('000000000001000764662d66696c65ffffffff', 'hex')

export async function prepareSide(side: Side): Promise<void> {
  await side.begin()
  await createTopic(side, 'df-plain', 3)
  await createTopic(side, 'df-compact', 1, [{ name: 'cleanup.policy', value: 'compact' }])
  for (const [topic, partition, times] of [
    ['df-plain', 0, 3],
    ['df-plain', 1, 1],
    ['df-compact', 0, 1],
  ] as const) {
    for (let i = 0; i < times; i++) await produceTo(side, topic, partition)
  }
  // Coordinators make and load their topics when they are first looked for.
  for (const keyType of [0, 1]) {
    await side.call('FindCoordinator', { key: 'df', keyType, coordinatorKeys: ['df'] })
  }
  await ready(() => side.call('InitProducerId', transactional('df-transactional')))
  await ready(() => commit(side, 'df-offsets'))
  side.known.set('member', await join(side, 'df-stable'))
  const { results } = await side.call('DescribeLogDirs', { topics: null })
  side.known.set('directory', String(rows(results)[0]?.logDir))
}

export function transactional(transactionalId: string | null): Body {
  return { transactionalId, transactionTimeoutMs: 60_000 }
}

/** A topic whose name nothing else has, for requests that change one. */
export async function createTopic(
  side: Side,
  name: string,
  numPartitions = 1,
  configs: readonly { name: string; value: string }[] = [],
): Promise<void> {
  const topic = { name, numPartitions, replicationFactor: 1, assignments: [], configs }
  await side.call('CreateTopics', { topics: [topic], timeoutMs: 10_000 })
  await ready(async () => {
    const { topics } = await side.call('Metadata', {
      topics: [{ name }],
      allowAutoTopicCreation: false,
    })
    const [found] = rows(topics)
    const partitions = rows(found?.partitions)
    const isLed = partitions.length === numPartitions && partitions.every(isRight)
    return { errorCode: isLed ? 0 : Number(found?.errorCode) || -1 }
  })
  await side.refresh()
}

const isRight = ({ errorCode }: Answer) => errorCode === 0

async function produceTo(side: Side, topic: string, partition: number): Promise<void> {
  await ready(async () => {
    const { responses } = await side.call('Produce', produceBody(side, topic, partition))
    return rows(rows(responses)[0]?.partitionResponses)[0] ?? {}
  })
}

export function produceBody(side: Side, topic: string, index: number, records = batch): Body {
  const partitionData = [{ index, records }]
  return {
    acks: -1,
    timeoutMs: 5000,
    topicData: [{ name: topic, topicId: side.topicId(topic), partitionData }],
  }
}

/** Commits offset 2 of the first partition of df-plain, from outside of the group. */
export async function commit(side: Side, groupId: string): Promise<Answer> {
  const { topics } = await side.call('OffsetCommit', commitBody(side, groupId))
  return rows(rows(topics)[0]?.partitions)[0] ?? {}
}

export function commitBody(side: Side, groupId: string, topic = 'df-plain'): Body {
  const offset = { committedOffset: 2, committedLeaderEpoch: 0, committedMetadata: 'note' }
  const partitions = [{ partitionIndex: 0, ...offset }]
  const topics = [{ name: topic, topicId: side.topicId(topic), partitions }]
  return { groupId, generationIdOrMemberEpoch: -1, memberId: '', topics }
}

export function joinBody(groupId: string, memberId = ''): Body {
  return {
    groupId,
    sessionTimeoutMs: 60_000,
    rebalanceTimeoutMs: 60_000,
    memberId,
    protocolType: 'consumer',
    protocols: [{ name: 'range', metadata }],
  }
}

/** Makes a stable group of one member, and gives the member's id. */
export async function join(side: Side, groupId: string): Promise<string> {
  const { memberId } = await side.call('JoinGroup', joinBody(groupId), 3)
  const assignments = [{ memberId, assignment: metadata }]
  await side.call('SyncGroup', { groupId, generationId: 1, memberId, assignments }, 3)
  return String(memberId)
}

async function ready(ask: () => Promise<Answer>): Promise<void> {
  let errorCode: unknown
  for (let i = 0; i < 1000; i++) {
    errorCode = (await ask()).errorCode
    if (errorCode === 0) return
    await sleep(15)
  }
  throw new Error(`still not ready: ${errorCode}`)
}
