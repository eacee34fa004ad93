/**
 * What the configuration of a topic means for the logs of its partitions. Kafka's largest number
 * stands for "never" or "no bound". Pure.
 */
import type { TopicConfig } from '../config.js'
import type { LogTuning } from '../storage/log-options.js'

/** `jitter`, in [0, 1), is the part of `segment.jitter.ms` that this log takes. */
export function logTuning(config: TopicConfig, jitter: number): Omit<LogTuning, 'maxMessageBytes'> {
  const flushMessages = bounded(config.get('flush.messages'))
  const isDeleted = config.get('cleanup.policy').includes('delete')
  const compacts = config.get('cleanup.policy').includes('compact')
  const maxCompactionLagMs = bounded(config.get('max.compaction.lag.ms'))
  const segmentMs = bounded(config.get('segment.ms'))
  return {
    segmentBytes: config.get('segment.bytes'),
    // Only what is not active can be compacted in time.
    segmentMs: compacts ? Math.min(segmentMs, maxCompactionLagMs) : segmentMs,
    segmentJitterMs: Math.floor(jitter * config.get('segment.jitter.ms')),
    segmentIndexBytes: config.get('segment.index.bytes'),
    indexIntervalBytes: config.get('index.interval.bytes'),
    flushMessages: flushMessages === Infinity ? 0 : flushMessages,
    flushMs: bounded(config.get('flush.ms')),
    fileDeleteDelayMs: config.get('file.delete.delay.ms'),
    // Of a log that is compacted alone, nothing goes for its age or size.
    retentionMs: isDeleted ? config.get('retention.ms') : -1,
    retentionBytes: isDeleted ? config.get('retention.bytes') : -1,
    timestampType: config.get('message.timestamp.type') as LogTuning['timestampType'],
    timestampBeforeMaxMs: bounded(config.get('message.timestamp.before.max.ms')),
    timestampAfterMaxMs: bounded(config.get('message.timestamp.after.max.ms')),
    compacts,
    minCleanableDirtyRatio: config.get('min.cleanable.dirty.ratio'),
    minCompactionLagMs: config.get('min.compaction.lag.ms'),
    maxCompactionLagMs,
    deleteRetentionMs: config.get('delete.retention.ms'),
  }
}

function bounded(value: number): number {
  return value >= Number.MAX_SAFE_INTEGER ? Infinity : value
}
