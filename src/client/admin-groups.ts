/**
 * Consumer groups: listed over all brokers, and described, their offsets read, set and deleted, by
 * the coordinator of each.
 */
import { deleteGroups } from '../apis/delete-groups.js'
import { describeGroups } from '../apis/describe-groups.js'
import { listGroups as listGroupsApi } from '../apis/list-groups.js'
import { offsetCommit } from '../apis/offset-commit.js'
import { offsetFetch } from '../apis/offset-fetch.js'
import { KafkaError } from '../errors.js'
import type { Api } from '../protocol/schema.js'
import type { Cluster } from './cluster.js'
import { BrokerError, checkCode, isStale } from './errors.js'
import { byTopic } from './offsets.js'
import { retrying } from './retry.js'
import { type Subscription, subscriptionOf } from './subscription.js'

export interface ListedGroup {
  groupId: string
  protocolType: string
  /** Empty where the broker is too old to tell. */
  state: string
  /** `classic`, `consumer` and so on; empty likewise. */
  type: string
}

export interface DescribedGroup {
  groupId: string
  state: string
  protocolType: string
  /** The assignment strategy. */
  protocol: string
  members: DescribedMember[]
}

export interface DescribedMember extends Subscription {
  memberId: string
  groupInstanceId: string | null
  clientId: string
  host: string
}

export interface CommittedOffset {
  topic: string
  partition: number
  offset: number
  /** -1: not told. */
  leaderEpoch: number
  metadata: string
}

const RETRY_MS = 15_000
/** From version 10 on topics go by id alone. */
const BY_NAME = { versionMax: 9 }

/** Asks a coordinator, and again where it is another one now or still loads. */
function askCoordinator<Q, QI, S, SI>(
  cluster: Cluster,
  group: string,
  api: Api<Q, QI, S, SI>,
  body: QI,
  check: (response: S) => void,
): Promise<S> {
  const attempt = async () => {
    const node = await cluster.coordinatorOf(group)
    const response = await cluster.request(node, api, body, BY_NAME)
    check(response)
    return response
  }
  return retrying(attempt, {
    env: cluster.env,
    timeoutMs: RETRY_MS,
    failed(error) {
      if (isStale(error)) cluster.forgetCoordinator(group)
    },
  })
}

/** The groups of every broker, by id. */
export async function listGroups(cluster: Cluster): Promise<ListedGroup[]> {
  const { brokers } = await cluster.metadata([])
  const answers = await Promise.all(
    brokers.map(({ id }) =>
      retrying(
        async () => {
          const response = await cluster.request(id, listGroupsApi, {})
          checkCode(response.errorCode, `groups of broker ${id}`)
          return response.groups
        },
        { env: cluster.env, timeoutMs: RETRY_MS },
      ),
    ),
  )
  const groups = answers.flat().map(({ groupId, protocolType, groupState, groupType }) => ({
    groupId,
    protocolType,
    state: groupState,
    type: groupType,
  }))
  return groups.sort((a, b) => (a.groupId < b.groupId ? -1 : 1))
}

/** Rejects with GROUP_ID_NOT_FOUND where there is none. */
export async function describeGroup(cluster: Cluster, group: string): Promise<DescribedGroup> {
  const what = `group ${group}`
  let notFound = false
  const response = await askCoordinator(
    cluster,
    group,
    describeGroups,
    { groups: [group] },
    ({ groups }) => {
      const answer = groups[0]
      notFound = answer?.errorCode === KafkaError.GROUP_ID_NOT_FOUND
      if (!notFound) checkCode(answer?.errorCode ?? -1, what, answer?.errorMessage)
    },
  )
  const answer = response.groups[0]
  // Before version 6 a group that is not there is a dead one.
  if (notFound || !answer || answer.groupState === 'Dead') return describeByList(cluster, group)
  return {
    groupId: group,
    state: answer.groupState,
    protocolType: answer.protocolType,
    protocol: answer.protocolData,
    members: answer.members.map((member) => ({
      memberId: member.memberId,
      groupInstanceId: member.groupInstanceId,
      clientId: member.clientId,
      host: member.clientHost.replace(/^\//, ''),
      ...subscriptionOf(answer.protocolType, member.memberMetadata, member.memberAssignment),
    })),
  }
}

/** Groups of newer kinds (KIP-848) are no classic ones: of them, the list alone tells. */
async function describeByList(cluster: Cluster, group: string): Promise<DescribedGroup> {
  const listed = (await listGroups(cluster)).find(({ groupId }) => groupId === group)
  if (!listed) throw new BrokerError(KafkaError.GROUP_ID_NOT_FOUND, `group ${group}`)
  const { state, protocolType } = listed
  return { groupId: group, state, protocolType, protocol: '', members: [] }
}

/** What a group has committed, by topic and partition. */
export async function committedOffsets(
  cluster: Cluster,
  group: string,
): Promise<CommittedOffset[]> {
  const body = { groupId: group, topics: null, groups: [{ groupId: group, topics: null }] }
  const response = await askCoordinator(cluster, group, offsetFetch, body, (answer) => {
    checkCode(answer.groups[0]?.errorCode ?? answer.errorCode, `group ${group}`)
  })
  const topics = response.groups[0]?.topics ?? response.topics
  const offsets = topics.flatMap(({ name, partitions }) =>
    partitions.map((each) => {
      checkCode(each.errorCode, `partition ${each.partitionIndex} of ${name}`)
      return {
        topic: name,
        partition: each.partitionIndex,
        offset: each.committedOffset,
        leaderEpoch: each.committedLeaderEpoch,
        metadata: each.metadata ?? '',
      }
    }),
  )
  return offsets
    .filter(({ offset }) => offset >= 0)
    .sort((a, b) => (a.topic === b.topic ? a.partition - b.partition : a.topic < b.topic ? -1 : 1))
}

/**
 * Commits offsets from outside of a group. Refused with UNKNOWN_MEMBER_ID while it has members.
 */
export async function commitOffsets(
  cluster: Cluster,
  group: string,
  offsets: readonly { topic: string; partition: number; offset: number }[],
): Promise<void> {
  const topics = [...byTopic(offsets)].map(([name, own]) => ({
    name,
    partitions: own.map(({ partition, offset }) => ({
      partitionIndex: partition,
      committedOffset: offset,
      committedMetadata: '',
    })),
  }))
  await askCoordinator(cluster, group, offsetCommit, { groupId: group, topics }, (response) => {
    for (const { name, partitions } of response.topics) {
      for (const { partitionIndex, errorCode } of partitions) {
        checkCode(errorCode, `group ${group}: partition ${partitionIndex} of ${name}`)
      }
    }
  })
}

/** Rejects with NON_EMPTY_GROUP while it has members, GROUP_ID_NOT_FOUND where there is none. */
export async function deleteGroup(cluster: Cluster, group: string): Promise<void> {
  const body = { groupsNames: [group] }
  await askCoordinator(cluster, group, deleteGroups, body, ({ results }) => {
    checkCode(results[0]?.errorCode ?? -1, `group ${group}`)
  })
}
