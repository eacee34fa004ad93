/**
 * Records one by one, or in arrays of a chunk each, as async iterators over a `ChunkReader`. A long
 * read takes turns with everything else in the process.
 */
import type { Env } from '../env.js'
import type { ChunkReader } from './reading.js'
import type { StoredRecord } from './stored-record.js'

/** The records of a range in arrays, one for each chunk. `open` is called by the first `next`. */
export async function* readBatches(
  open: () => ChunkReader,
  env: Pick<Env, 'soon'>,
): AsyncGenerator<StoredRecord[], void, undefined> {
  const reader = open()
  for (;;) {
    const records = reader.next()
    if (records === undefined) return
    yield records
    if (reader.isTurnOver) await turn(reader, env)
  }
}

function turn(reader: ChunkReader, env: Pick<Env, 'soon'>): Promise<void> {
  reader.turnBytes = 0
  return new Promise((resolve) => env.soon(resolve))
}

/**
 * The records of a range one by one. Not an async generator, which would cost three turns of the
 * microtask queue for each record instead of one.
 */
export class RecordReader implements AsyncIterableIterator<StoredRecord, undefined, undefined> {
  readonly #open: () => ChunkReader
  readonly #env: Pick<Env, 'soon'>
  #reader: ChunkReader | undefined
  #records: StoredRecord[] = []
  #at = 0
  #done = false
  /** The turn of others that is under way. */
  #waiting: Promise<void> | undefined

  /** `open` is called by the first `next`. */
  constructor(open: () => ChunkReader, env: Pick<Env, 'soon'>) {
    this.#open = open
    this.#env = env
  }

  next(): Promise<IteratorResult<StoredRecord, undefined>> {
    if (this.#at < this.#records.length) {
      return Promise.resolve({ done: false, value: this.#records[this.#at++]! })
    }
    if (this.#waiting !== undefined) return this.#waiting.then(() => this.next())
    try {
      return this.#fill()
    } catch (error) {
      this.#end()
      return Promise.reject(error)
    }
  }

  #fill(): Promise<IteratorResult<StoredRecord, undefined>> {
    if (this.#done) return Promise.resolve({ done: true, value: undefined })
    this.#reader ??= this.#open()
    if (this.#reader.isTurnOver) {
      this.#waiting = turn(this.#reader, this.#env).then(() => {
        this.#waiting = undefined
      })
      return this.#waiting.then(() => this.next())
    }
    const records = this.#reader.next()
    if (records === undefined) {
      this.#end()
      return Promise.resolve({ done: true, value: undefined })
    }
    this.#records = records
    this.#at = 1
    return Promise.resolve({ done: false, value: records[0]! })
  }

  /** What a loop that is left early calls. */
  return(): Promise<IteratorResult<StoredRecord, undefined>> {
    this.#end()
    return Promise.resolve({ done: true, value: undefined })
  }

  #end(): void {
    this.#done = true
    this.#records = []
    this.#at = 0
    this.#reader = undefined
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
