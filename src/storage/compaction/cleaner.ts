/**
 * Chooses which log to compact next, one at a time, over all of a broker: what is overdue by
 * `max.compaction.lag.ms` or dirtier than `min.cleanable.dirty.ratio`, the dirtiest first, until
 * nothing is left that pays; then a pause of `log.cleaner.backoff.ms`.
 *
 * A log whose compaction fails is told to the operator, listed as uncleanable, left out of the
 * round, and tried again in the next one; the others go on. Leaves the work to compact.ts and the
 * checkpoint to the log directories. JS thread.
 */
import type { Log } from '../log.js'
import { partitionDirectory, type TopicPartition } from '../log-files.js'
import type { CompactionNeed } from './compact.js'
import { Interrupted } from './compaction-state.js'

/** Names in brackets are those of Kafka's configuration. */
export interface CleanerOptions {
  /** `log.cleaner.enable` */
  enable: boolean
  /** `log.cleaner.backoff.ms` */
  backoffMs: number
  /** `log.cleaner.dedupe.buffer.size` */
  bufferBytes: number
}

/** Kafka's. */
export const defaultCleanerOptions: CleanerOptions = {
  enable: true,
  backoffMs: 15_000,
  bufferBytes: 128 * 1024 * 1024,
}

/** A log that may be compacted. */
export interface CleanableLog extends TopicPartition {
  readonly log: Log
  /** Nothing at or above is compacted. */
  readonly limitOffset: number
  /** Writes down what `Log.cleanedOffset` says. */
  checkpoint(): Promise<void>
}

/** A log whose last compaction failed. */
export interface Uncleanable extends TopicPartition {
  reason: string
}

interface Candidate {
  found: CleanableLog
  need: CompactionNeed
}

export class Cleaner {
  readonly #logs: () => Iterable<CleanableLog>
  readonly #options: () => CleanerOptions
  readonly #warn: (line: string) => void
  readonly #uncleanable = new Map<string, Uncleanable>()
  #current: Log | undefined
  #stopped = false

  constructor(
    logs: () => Iterable<CleanableLog>,
    options: () => CleanerOptions,
    warn: (line: string) => void,
  ) {
    this.#logs = logs
    this.#options = options
    this.#warn = warn
  }

  /** Logs whose last compaction failed, and why. */
  get uncleanable(): Uncleanable[] {
    return [...this.#uncleanable.values()]
  }

  /** Interrupts what is under way; nothing further begins. */
  stop(): void {
    this.#stopped = true
    void this.#current?.interruptCompaction()
  }

  /** Compacts one log after the other while there is one that needs it. Never rejects. */
  async round(): Promise<void> {
    this.#forgetRemoved()
    const done = new Set<string>()
    while (!this.#stopped && this.#options().enable) {
      const next = await this.#dirtiest(done)
      if (next === undefined) return
      done.add(partitionDirectory(next))
      await this.#clean(next)
    }
  }

  #forgetRemoved(): void {
    const present = new Set([...this.#logs()].map(partitionDirectory))
    for (const name of this.#uncleanable.keys()) {
      if (!present.has(name)) this.#uncleanable.delete(name)
    }
  }

  async #dirtiest(done: ReadonlySet<string>): Promise<CleanableLog | undefined> {
    let best: Candidate | undefined
    for (const found of [...this.#logs()]) {
      if (this.#stopped) return undefined
      const { compacts, minCleanableDirtyRatio } = found.log.compactionTuning
      if (!compacts || done.has(partitionDirectory(found))) continue
      const need = await this.#attempt(found, () => found.log.compactionNeed(found.limitOffset))
      if (need === undefined) continue
      if (!need.isOverdue && need.ratio <= minCleanableDirtyRatio) continue
      if (best === undefined || need.ratio > best.need.ratio) best = { found, need }
    }
    return best?.found
  }

  async #clean(found: CleanableLog): Promise<void> {
    const { bufferBytes } = this.#options()
    const { limitOffset, log } = found
    this.#current = log
    const isDone = await this.#attempt(found, async () => {
      const compacted = await log.compact({ limitOffset, bufferBytes })
      if (compacted) await found.checkpoint()
      return true
    })
    this.#current = undefined
    if (isDone) this.#uncleanable.delete(partitionDirectory(found))
  }

  /** Undefined where it did not come to its end. */
  async #attempt<T>(found: CleanableLog, act: () => Promise<T>): Promise<T | undefined> {
    try {
      return await act()
    } catch (error) {
      if (!isPassing(error)) this.#note(found, error)
      return undefined
    }
  }

  #note({ topic, partition }: CleanableLog, error: unknown): void {
    const name = partitionDirectory({ topic, partition })
    const reason = error instanceof Error ? error.message : String(error)
    // The same thing is not told in every round.
    if (this.#uncleanable.get(name)?.reason !== reason) {
      this.#warn(`${name} cannot be compacted, and is tried again later: ${reason}`)
    }
    this.#uncleanable.set(name, { topic, partition, reason })
  }
}

/** The log was cut or closed meanwhile, or has failed, which is told elsewhere. */
function isPassing(error: unknown): boolean {
  if (error instanceof Interrupted) return true
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'CLOSED' || code === 'READ_ONLY' || code === 'FENCED'
}
