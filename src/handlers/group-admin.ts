/** ListGroups, DescribeGroups, DeleteGroups: what tools ask of the group coordinator. */
import { deleteGroups as deleteApi } from '../apis/delete-groups.js'
import { describeGroups as describeApi } from '../apis/describe-groups.js'
import { listGroups as listApi } from '../apis/list-groups.js'
import { KafkaError, type KafkaErrorCode, kafkaErrorName } from '../errors.js'
import { distinct } from './distinct.js'
import { handler } from './handler.js'
import { GROUP_OPERATIONS, OPERATIONS_NOT_ASKED } from './operations.js'

export const listGroups = handler(listApi, [0, 5], (request, { groups }) => {
  return { throttleTimeMs: 0, ...groups.listGroups(request) }
})

export const describeGroups = handler(describeApi, [0, 6], (request, { groups, version }) => {
  const authorizedOperations = request.includeAuthorizedOperations
    ? GROUP_OPERATIONS
    : OPERATIONS_NOT_ASKED
  const described = distinct(request.groups, (groupId) => groupId).map((groupId) => {
    const group = groups.describeGroup(groupId)
    // Before version 6 a group that is not there is one in state Dead.
    const unknown = group.errorCode === KafkaError.GROUP_ID_NOT_FOUND
    const errorCode = unknown && version < 6 ? KafkaError.NONE : group.errorCode
    const errorMessage = textOf(errorCode, groupId)
    const isFound = errorCode === KafkaError.NONE
    const operations = isFound ? authorizedOperations : OPERATIONS_NOT_ASKED
    return { ...group, errorCode, errorMessage, authorizedOperations: operations }
  })
  return { throttleTimeMs: 0, groups: described }
})

function textOf(errorCode: KafkaErrorCode, groupId: string): string | null {
  if (errorCode === KafkaError.NONE) return null
  if (errorCode === KafkaError.GROUP_ID_NOT_FOUND) return `Group ${groupId} not found.`
  return kafkaErrorName(errorCode)
}

export const deleteGroups = handler(deleteApi, [0, 2], async (request, { groups }) => {
  const results = await Promise.all(
    distinct(request.groupsNames, (groupId) => groupId).map(async (groupId) => ({
      groupId,
      errorCode: await groups.deleteGroup(groupId),
    })),
  )
  return { throttleTimeMs: 0, results }
})
