/**
 * Kafka's keys of parts that this broker does not have, by part. Server.properties of a Kafka may
 * hold them, and tools show them: they are checked and described, and nothing reads them.
 */
import { clusterKeys, tieredKeys } from './config-keys-cluster.js'
import { groupKeys } from './config-keys-groups.js'
import { securityKeys } from './config-keys-security.js'
import type { Key } from './config-types.js'

export const foreignParts: readonly (readonly [
  part: string,
  keys: Readonly<Record<string, Key<unknown>>>,
])[] = [
  ['Groups of newer protocols, coordinators, transactions', groupKeys],
  ['Clusters, quotas, plugins', clusterKeys],
  ['Tiered storage', tieredKeys],
  ['TLS, SASL, tokens, authorizers', securityKeys],
]

export const foreignKeys: Readonly<Record<string, Key<unknown>>> = Object.assign(
  {},
  ...foreignParts.map(([, keys]) => keys),
)
