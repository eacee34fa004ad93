/**
 * Keys of a broker that can be changed while it runs (KIP-226): what topics inherit, what is read
 * anew at each use, and what Kafka can change and has no effect here.
 */
import { type brokerKeys, topicKeys } from './config-keys.js'
import { foreignKeys } from './config-keys-foreign.js'

type BrokerKey = keyof typeof brokerKeys

const others: readonly BrokerKey[] = [
  'background.threads',
  'log.cleaner.backoff.ms',
  'log.cleaner.dedupe.buffer.size',
  'log.cleaner.threads',
  'max.connections',
  'max.connections.per.ip',
  'num.io.threads',
  'num.network.threads',
  'num.recovery.threads.per.data.dir',
  'num.replica.fetchers',
  'producer.id.expiration.ms',
]

const dynamicKeys: ReadonlySet<string> = new Set([...Object.values(topicKeys), ...others])

export function isDynamic(key: string): boolean {
  return dynamicKeys.has(key) || foreignKeys[key]?.isDynamic === true
}
