/** Configurations of topics and brokers: described, and changed key by key (KIP-339). */
import { describeConfigs as describeConfigsApi } from '../apis/describe-configs.js'
import { incrementalAlterConfigs } from '../apis/incremental-alter-configs.js'
import { SeglogError } from '../errors.js'
import type { Cluster } from './cluster.js'
import type { Connection } from './connection.js'
import { checkCode } from './errors.js'

export type ResourceType = 'topic' | 'broker'

/** A topic by name, a broker by id; the empty name of a broker means all of them. */
export interface ConfigResource {
  type: ResourceType
  name: string
}

export interface ConfigEntry {
  name: string
  /** Null: unset, or sensitive. */
  value: string | null
  readOnly: boolean
  sensitive: boolean
  source: string
}

export type ConfigChange = { name: string; set: string } | { name: string; unset: true }

const types = { topic: 2, broker: 4 } as const

const sources = new Map([
  [1, 'topic'],
  [2, 'dynamic broker'],
  [3, 'dynamic default broker'],
  [4, 'static broker'],
  [5, 'default'],
  [6, 'dynamic broker logger'],
  [7, 'client metrics'],
  [8, 'group'],
])

const SET = 0
const DELETE = 1

/** What a broker alone knows of itself, it is asked; the rest, anyone. */
async function connectionFor(cluster: Cluster, resource: ConfigResource): Promise<Connection> {
  if (resource.type === 'topic' || resource.name === '') return cluster.any()
  const id = Number(resource.name)
  if (!/^\d{1,10}$/.test(resource.name)) {
    throw new SeglogError('BAD_ARGUMENT', `the name of a broker is its id, not ${resource.name}`)
  }
  return cluster.connection(id)
}

const textOf = ({ type, name }: ConfigResource) =>
  name === '' ? `all ${type}s` : `${type} ${name}`

/** All keys of a resource, by name. */
export async function describeConfigs(
  cluster: Cluster,
  resource: ConfigResource,
): Promise<ConfigEntry[]> {
  const connection = await connectionFor(cluster, resource)
  const wish = {
    resourceType: types[resource.type],
    resourceName: resource.name,
    configurationKeys: null,
  }
  const { results } = await connection.request(describeConfigsApi, { resources: [wish] })
  const result = results[0]
  checkCode(result?.errorCode ?? -1, textOf(resource), result?.errorMessage)
  const entries = (result?.configs ?? []).map((config) => ({
    name: config.name,
    value: config.value,
    readOnly: config.readOnly,
    sensitive: config.isSensitive,
    source: sources.get(config.configSource) ?? (config.isDefault ? 'default' : 'unknown'),
  }))
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1))
}

/** All changes, or none of them. */
export async function alterConfigs(
  cluster: Cluster,
  resource: ConfigResource,
  changes: readonly ConfigChange[],
): Promise<void> {
  const connection = await connectionFor(cluster, resource)
  const configs = changes.map((change) =>
    'set' in change
      ? { name: change.name, configOperation: SET, value: change.set }
      : { name: change.name, configOperation: DELETE, value: null },
  )
  const wish = { resourceType: types[resource.type], resourceName: resource.name, configs }
  const body = { resources: [wish], validateOnly: false }
  const { responses } = await connection.request(incrementalAlterConfigs, body)
  const answer = responses[0]
  checkCode(answer?.errorCode ?? -1, textOf(resource), answer?.errorMessage)
}

/**
 * As `alterConfigs`, but a key that is to be taken back must be one that the resource has: brokers
 * say nothing of a misspelt one. Rejects with BAD_ARGUMENT.
 */
export async function alterKnown(
  cluster: Cluster,
  resource: ConfigResource,
  changes: readonly ConfigChange[],
): Promise<void> {
  if (changes.some((change) => 'unset' in change)) {
    const entries = await describeConfigs(cluster, resource)
    const known = new Set(entries.map(({ name }) => name))
    const stranger = changes.find((change) => 'unset' in change && !known.has(change.name))
    if (stranger !== undefined) {
      throw new SeglogError('BAD_ARGUMENT', `${textOf(resource)}: no ${stranger.name} is set`)
    }
  }
  await alterConfigs(cluster, resource, changes)
}
