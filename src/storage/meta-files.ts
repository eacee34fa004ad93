/**
 * The small files that say what a directory is. Unlike a checkpoint their content cannot be derived
 * anew, so a damaged one is an error that names the file, and no other id is put in its place.
 *
 *   meta.properties, per log directory: version 0 with broker.id and cluster.id, as in Kafka's
 *     ZooKeeper era; version 1 (node.id in place of broker.id), as KRaft writes it, is read too
 *   partition.metadata, per partition: `version: 0` and `topic_id: ` with 16 bytes in base64url
 *     (KIP-516)
 *   .kafka_cleanshutdown, per log directory: that it exists says that everything is on disk. Kafka
 *     up to 3.6 leaves it empty, later ones write JSON with the broker epoch (KIP-966)
 */
import { join } from 'node:path'
import { readSmall, removeDurably, writeAtomically } from '../atomic-file.js'
import { SeglogError } from '../errors.js'
import { formatProperties, parseProperties } from '../properties.js'

export interface MetaProperties {
  brokerId: number
  clusterId: string
}

export interface CleanShutdown {
  /** The epoch of the broker that stopped, or -1 where the marker does not tell. */
  brokerEpoch: number
}

const metaProperties = 'meta.properties'
const partitionMetadata = 'partition.metadata'
const cleanShutdown = '.kafka_cleanshutdown'

/** What a log directory says of itself; undefined for a fresh one. Errors: CORRUPT, IO. */
export async function readMetaProperties(directory: string): Promise<MetaProperties | undefined> {
  const path = join(directory, metaProperties)
  const bytes = await readSmall(path)
  if (bytes === undefined) return undefined
  const text = bytes.toString('utf8')
  // Every writer ends the last line; without that a value may be the beginning of a longer one.
  if (!/[\r\n]$/.test(text)) throw corrupt(path, 'it is empty, cut short, or no text')
  const properties = parseProperties(text, path)
  const version = properties.get('version')
  if (version !== '0' && version !== '1') throw corrupt(path, 'version 0 or 1 expected')
  const idKey = version === '0' ? 'broker.id' : 'node.id'
  const id = properties.get(idKey) ?? ''
  if (!/^\d{1,10}$/.test(id) || Number(id) > 2147483647) throw corrupt(path, `no valid ${idKey}`)
  const clusterId = properties.get('cluster.id') ?? ''
  if (!/^[\w.-]+$/.test(clusterId)) throw corrupt(path, 'no valid cluster.id')
  return { brokerId: Number(id), clusterId }
}

/** Writes version 0, durably. Errors: NO_SPACE, IO. */
export function writeMetaProperties(directory: string, meta: MetaProperties): Promise<void> {
  const text = formatProperties([
    ['version', '0'],
    ['broker.id', String(meta.brokerId)],
    ['cluster.id', meta.clusterId],
  ])
  return writeAtomically(join(directory, metaProperties), text)
}

/**
 * The topic id of a partition as 22 characters of base64url; undefined where there is no file.
 * Errors: CORRUPT, IO.
 */
export async function readTopicId(directory: string): Promise<string | undefined> {
  const path = join(directory, partitionMetadata)
  const bytes = await readSmall(path)
  if (bytes === undefined) return undefined
  const text = bytes.toString('utf8')
  const [, version, topicId] = /^version: *(\d+)\r?\ntopic_id: *([\w-]{22})\s*$/.exec(text) ?? []
  if (version !== '0' || topicId === undefined) {
    throw corrupt(path, 'not a version 0 and a topic id')
  }
  if (!isTopicId(topicId)) throw corrupt(path, `${topicId} is no topic id`)
  return topicId
}

/**
 * Writes the topic id durably. REQUIRES: 16 bytes in base64url, not all 0. Errors: BAD_ARGUMENT,
 * NO_SPACE, IO.
 */
export async function writeTopicId(directory: string, topicId: string): Promise<void> {
  if (!isTopicId(topicId)) throw new SeglogError('BAD_ARGUMENT', `${topicId} is no topic id`)
  await writeAtomically(join(directory, partitionMetadata), `version: 0\ntopic_id: ${topicId}`)
}

/** Whether the last broker on this directory stopped cleanly. Errors: IO. */
export async function readCleanShutdown(directory: string): Promise<CleanShutdown | undefined> {
  const bytes = await readSmall(join(directory, cleanShutdown))
  if (bytes === undefined) return undefined
  const [, epoch] = /"brokerEpoch"\s*:\s*(\d{1,15})\s*[,}]/.exec(bytes.toString('utf8')) ?? []
  return { brokerEpoch: epoch === undefined ? -1 : Number(epoch) }
}

/**
 * Says that all logs of the directory are on disk. REQUIRES that they are. Errors: NO_SPACE, IO.
 */
export function writeCleanShutdown(directory: string, { brokerEpoch }: CleanShutdown) {
  const text = JSON.stringify({ version: 0, brokerEpoch })
  return writeAtomically(join(directory, cleanShutdown), text)
}

/**
 * Takes the marker away, durably: a marker that comes back after a loss of power would vouch for
 * logs that have been written to since. Do it before the first append. Errors: IO.
 */
export async function removeCleanShutdown(directory: string): Promise<boolean> {
  return removeDurably(join(directory, cleanShutdown))
}

const isTopicId = (text: string) => {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === 16 && bytes.toString('base64url') === text && bytes.some((b) => b !== 0)
}

const corrupt = (path: string, why: string) =>
  new SeglogError('CORRUPT', `${path} is damaged: ${why}; restore it or remove it knowingly`)
