/**
 * One partition as this broker serves it: the log, the leader epoch, the high watermark, and who
 * waits for it.
 *
 * With a single replica the high watermark is the log's end: a record is committed as soon as it is
 * appended. Followers, the ISR and truncation will live here too; what decides about them is pure
 * and stands beside it.
 */
import type { TopicConfig } from '../config.js'
import { KafkaError, type KafkaErrorCode } from '../errors.js'
import { native, Result, Status } from '../native.js'
import { batchAt, crcMatches } from '../records/batch.js'
import { readSequence } from '../records/sequence.js'
import { INVALID_TIMESTAMP } from '../storage/append-rules.js'
import type { Log } from '../storage/log.js'
import type { Slice } from '../storage/slice.js'
import { logTuning } from './log-tuning.js'

/** Told of each append; see `Partition.watch`. */
export interface Watcher {
  appended(sizeBytes: number): void
  /** The partition is closed or no longer served here. */
  gone(): void
}

/** What became of a produce to one partition. */
export interface AppendOutcome {
  errorCode: KafkaErrorCode
  /** -1 on an error. */
  baseOffset: number
  /** What was wrong, for the client's log; null where the code says it all. */
  errorMessage: string | null
  /** Index of the record that broke a rule, or -1. */
  badRecord: number
  /**
   * Settles with the sync that the configuration asks for before an answer; undefined where it asks
   * for none.
   */
  flushed: Promise<void> | undefined
  /** Of a batch that was there before: when it was appended, ms since 1970. */
  repeatedMs?: number
}

export class Partition {
  readonly topic: string
  readonly index: number
  readonly log: Log
  readonly leaderEpoch: number
  #config: TopicConfig
  readonly #watchers = new Set<Watcher>()

  constructor(topic: string, index: number, log: Log, config: TopicConfig, leaderEpoch = 0) {
    this.topic = topic
    this.index = index
    this.log = log
    this.leaderEpoch = leaderEpoch
    this.#config = config
    this.configure(config)
  }

  /** Takes over a configuration, from the next append on. */
  configure(config: TopicConfig): void {
    this.#config = config
    this.log.configure(logTuning(config, jitterOf(this.topic, this.index)))
  }

  /** Consumers see what is below it. */
  get highWatermark(): number {
    return this.log.endOffset
  }

  /** Watchers at present, for tests and metrics. */
  get watchers(): number {
    return this.#watchers.size
  }

  watch(watcher: Watcher): void {
    this.#watchers.add(watcher)
  }

  unwatch(watcher: Watcher): void {
    this.#watchers.delete(watcher)
  }

  /** Appends the one batch that a client's produce request holds for this partition. */
  append(bytes: Uint8Array, nowMs: number): AppendOutcome {
    if (bytes.length > this.#config.get('max.message.bytes')) {
      return refuse(KafkaError.MESSAGE_TOO_LARGE)
    }
    const sequence = readSequence(bytes)
    if (sequence) {
      const { producerId, producerEpoch, baseSequence, count } = sequence
      const check = this.log.producers.check(producerId, producerEpoch, baseSequence, count)
      // What is not appended is not looked at by the log: a damaged batch is no repeat of any.
      if (check !== 'append' && !isSound(bytes)) return refuseStatus(Status.CORRUPT)
      if (typeof check === 'number') return refuse(check)
      if (check !== 'append') return { ...accept(check.baseOffset), repeatedMs: check.timestamp }
    }
    const baseOffset = this.log.appendFromClient(bytes, 0, bytes.length, this.leaderEpoch)
    if (baseOffset < 0) return refuseStatus(baseOffset)
    if (sequence) {
      this.log.producers.update({
        producerId: sequence.producerId,
        producerEpoch: sequence.producerEpoch,
        firstSequence: sequence.baseSequence,
        baseOffset,
        lastOffset: this.log.endOffset - 1,
        timestamp: nowMs,
      })
    }
    for (const watcher of this.#watchers) watcher.appended(bytes.length)
    return accept(baseOffset, this.log.takeOwedFlush())
  }

  /** Bytes for a consumer from `offset`, below the high watermark. Throws as `Log.slice`. */
  read(offset: number, maxBytes: number): Slice | undefined {
    return this.log.slice(offset, maxBytes, this.highWatermark)
  }

  async close(): Promise<void> {
    for (const watcher of this.#watchers) watcher.gone()
    this.#watchers.clear()
    await this.log.close()
  }
}

/** Logs that are filled alike are not to roll at the same time: each has a share by its name. */
function jitterOf(topic: string, index: number): number {
  return native.crc32(Buffer.from(topic), 0, Buffer.byteLength(topic), index) / 2 ** 32
}

function isSound(bytes: Uint8Array): boolean {
  try {
    return crcMatches(batchAt(bytes, 0))
  } catch {
    return false
  }
}

function accept(baseOffset: number, flushed?: Promise<void>): AppendOutcome {
  return { errorCode: KafkaError.NONE, baseOffset, errorMessage: null, badRecord: -1, flushed }
}

function refuse(errorCode: KafkaErrorCode, errorMessage: string | null = null): AppendOutcome {
  return { errorCode, baseOffset: -1, errorMessage, badRecord: -1, flushed: undefined }
}

function refuseStatus(status: number): AppendOutcome {
  switch (status) {
    case Status.CORRUPT:
      return refuse(KafkaError.CORRUPT_MESSAGE, 'the batch is damaged')
    case Status.BAD_MAGIC:
      return refuse(KafkaError.UNSUPPORTED_FOR_MESSAGE_FORMAT, 'only magic 2 is accepted')
    case Status.OFFSET_TOO_LARGE:
      return refuse(KafkaError.KAFKA_STORAGE_ERROR, 'offsets above 2^53 - 1 are not given')
    case Status.INVALID_RECORD: {
      const badRecord = native.results[Result.DETAIL]!
      const outcome = refuse(KafkaError.INVALID_RECORD, 'the batch breaks a rule of the format')
      return { ...outcome, badRecord }
    }
    case INVALID_TIMESTAMP:
      return refuse(KafkaError.INVALID_TIMESTAMP, 'a timestamp is too far from the clock')
    case Status.TOO_LARGE:
      return refuse(KafkaError.RECORD_LIST_TOO_LARGE, 'the batch does not fit into a segment')
    case Status.NO_SPACE:
      return refuse(KafkaError.KAFKA_STORAGE_ERROR, 'no space is left on the disk of the broker')
    default:
      return refuse(KafkaError.KAFKA_STORAGE_ERROR, 'the log cannot be written')
  }
}
