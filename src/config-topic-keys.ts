/**
 * Keys that a topic has and that stand for no key of this broker: compression levels, tiered
 * storage, throttles of replication. They are checked and kept, since tools set them; none has an
 * effect here.
 */
import { boolean, int, type Key, list, long } from './config-types.js'

const none = { effect: 'none' } as const
/** partition:broker pairs, or every replica. */
const throttle = { of: 'partition:broker, or *', check: isThrottle, ...none }

export const topicOnlyKeys = {
  'compression.gzip.level': int(-1, 'The level of gzip; -1: as the library has it.', {
    min: -1,
    max: 9,
    ...none,
  }),
  'compression.lz4.level': int(9, 'The level of lz4.', { min: 1, max: 17, ...none }),
  'compression.zstd.level': int(3, 'The level of zstd.', { min: -131_072, max: 22, ...none }),
  'follower.replication.throttled.replicas': list('', 'Followers that are throttled.', throttle),
  'leader.replication.throttled.replicas': list('', 'Leaders that are throttled.', throttle),
  'local.retention.bytes': long(-2, 'Size of what stays local of a tiered log; -2: as a whole.', {
    min: -2,
    ...none,
  }),
  'local.retention.ms': long(-2, 'Age of what stays local of a tiered log; -2: as a whole.', {
    min: -2,
    ...none,
  }),
  'remote.log.copy.disable': boolean(false, 'Whether nothing more is tiered.', none),
  'remote.log.delete.on.disable': boolean(false, 'Whether tiered data goes with tiering.', none),
  'remote.storage.enable': {
    ...boolean(false, 'Whether a log is tiered: never.', none),
    range: 'false',
    read: (written: string) => (written.toLowerCase() === 'false' ? false : undefined),
  },
} as const satisfies Record<string, Key<unknown>>

/** Those of them that a broker has in Kafka, and what it calls them there. */
export const topicOnlySynonyms: Readonly<Record<string, string>> = {
  'compression.gzip.level': 'compression.gzip.level',
  'compression.lz4.level': 'compression.lz4.level',
  'compression.zstd.level': 'compression.zstd.level',
  'local.retention.bytes': 'log.local.retention.bytes',
  'local.retention.ms': 'log.local.retention.ms',
}

function isThrottle(entry: string): boolean {
  return entry === '*' || /^\d+:\d+$/.test(entry)
}
