/**
 * JoinGroup, SyncGroup, Heartbeat, LeaveGroup: each hands its request to the group coordinator and
 * gives the answer the form of its version. A join or sync that waits is dropped when its client
 * goes.
 */
import { heartbeat as heartbeatApi } from '../apis/heartbeat.js'
import { joinGroup as joinApi } from '../apis/join-group.js'
import { leaveGroup as leaveApi } from '../apis/leave-group.js'
import { syncGroup as syncApi } from '../apis/sync-group.js'
import { syncError } from '../coordinator/member.js'
import { KafkaError } from '../errors.js'
import type { RequestContext } from './context.js'
import { handler } from './handler.js'

export const joinGroup = handler(joinApi, [0, 9], async (request, context) => {
  const { version } = context
  const answer = await whileConnected(context, (signal) =>
    context.groups.joinGroup({
      ...request,
      rebalanceTimeoutMs: version === 0 ? request.sessionTimeoutMs : request.rebalanceTimeoutMs,
      clientId: context.clientId ?? '',
      clientHost: context.clientHost,
      requireKnownMemberId: version >= 4,
      supportSkippingAssignment: version >= 9,
      signal,
    }),
  )
  // Null only exists from version 7 on.
  const protocolName = version < 7 ? (answer.protocolName ?? '') : answer.protocolName
  return { ...answer, throttleTimeMs: 0, protocolName }
})

export const syncGroup = handler(syncApi, [0, 5], async (request, context) => {
  const { protocolType, protocolName } = request
  if (context.version >= 5 && (protocolType === null || protocolName === null)) {
    return { throttleTimeMs: 0, ...syncError(KafkaError.INCONSISTENT_GROUP_PROTOCOL) }
  }
  const answer = await whileConnected(context, (signal) =>
    context.groups.syncGroup({ ...request, signal }),
  )
  return { ...answer, throttleTimeMs: 0 }
})

export const heartbeat = handler(heartbeatApi, [0, 4], async (request, { groups }) => {
  return { ...(await groups.heartbeat(request)), throttleTimeMs: 0 }
})

export const leaveGroup = handler(leaveApi, [0, 5], async (request, { groups, version }) => {
  const one = [{ memberId: request.memberId, groupInstanceId: null }]
  const members = version < 3 ? one : request.members
  const answer = await groups.leaveGroup({ groupId: request.groupId, members })
  const errorCode = version < 3 ? answer.errorCode || (answer.members[0]?.errorCode ?? 0) : 0
  return { throttleTimeMs: 0, errorCode: errorCode || answer.errorCode, members: answer.members }
})

async function whileConnected<T>(
  { onClose }: RequestContext,
  act: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const connection = new AbortController()
  const unsubscribe = onClose(() => connection.abort())
  try {
    return await act(connection.signal)
  } finally {
    unsubscribe()
  }
}
