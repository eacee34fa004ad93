/**
 * Counts what passes between a connection and the handlers, by API: requests, bytes of both
 * directions, how long an answer took, and requests that ended their connection. It stands in front
 * of the dispatcher; where metrics are off it is not there.
 */
import { apiByKey } from '../apis/registry.js'
import type { Part } from '../protocol/parts.js'
import type { Client, Dispatch } from './connection.js'
import { DurationHistogram, type MetricsText } from './metrics-text.js'

/** What is counted of one API. */
class ApiCounts {
  readonly durations = new DurationHistogram()
  requestBytes = 0
  responseBytes = 0
  failures = 0
}

/** Keys that no table has are counted together, so that nobody can make this grow. */
const UNKNOWN = -1
/** The length in front of a frame. */
const LENGTH_BYTES = 4

export class RequestMetrics {
  readonly #byKey = new Map<number, ApiCounts>()
  readonly #now: () => number
  #inFlight = 0

  /** `now` is a monotonic clock in ms. */
  constructor(now: () => number) {
    this.#now = now
  }

  /** The same dispatcher, counted. */
  measured(dispatch: Dispatch): Dispatch {
    return (frame, client) => this.#answer(dispatch, frame, client)
  }

  #answer(dispatch: Dispatch, frame: Uint8Array, client: Client): ReturnType<Dispatch> {
    const counts = this.#countsOf(frame)
    const beganMs = this.#now()
    counts.requestBytes += frame.length + LENGTH_BYTES
    this.#inFlight++
    let reply: ReturnType<Dispatch>
    try {
      reply = dispatch(frame, client)
    } catch (error) {
      this.#failed(counts, beganMs)
      throw error
    }
    if (!(reply instanceof Promise)) return this.#answered(counts, beganMs, reply)
    return reply.then(
      (parts) => this.#answered(counts, beganMs, parts),
      (error) => {
        this.#failed(counts, beganMs)
        throw error
      },
    )
  }

  #countsOf(frame: Uint8Array): ApiCounts {
    const read = frame.length < 2 ? UNKNOWN : (frame[0]! << 8) | frame[1]!
    const known = this.#byKey.get(read)
    if (known) return known
    const key = apiByKey(read) ? read : UNKNOWN
    const counts = this.#byKey.get(key) ?? new ApiCounts()
    this.#byKey.set(key, counts)
    return counts
  }

  #answered(counts: ApiCounts, beganMs: number, parts: Part[] | undefined): Part[] | undefined {
    this.#inFlight--
    counts.durations.add(this.#now() - beganMs)
    if (parts) {
      for (const part of parts) {
        counts.responseBytes += part instanceof Uint8Array ? part.length : part.sizeBytes
      }
    }
    return parts
  }

  #failed(counts: ApiCounts, beganMs: number): void {
    this.#inFlight--
    counts.durations.add(this.#now() - beganMs)
    counts.failures++
  }

  write(text: MetricsText): void {
    const apis = [...this.#byKey]
      .sort(([a], [b]) => a - b)
      .map(([key, counts]) => ({ labels: { api: apiByKey(key)?.name ?? 'unknown' }, counts }))
    const each = (name: string, help: string, value: (counts: ApiCounts) => number) => {
      text.family(name, 'counter', help)
      for (const { labels, counts } of apis) text.sample(value(counts), labels)
    }
    each(
      'seglog_requests_total',
      'Requests that were answered.',
      ({ durations }) => durations.count,
    )
    each(
      'seglog_request_bytes_total',
      'Bytes of requests, with their frames.',
      ({ requestBytes }) => requestBytes,
    )
    each(
      'seglog_response_bytes_total',
      'Bytes of responses, with their frames.',
      ({ responseBytes }) => responseBytes,
    )
    each(
      'seglog_request_failures_total',
      'Requests that could not be answered and ended their connection.',
      ({ failures }) => failures,
    )
    const help = 'From a whole request to its response, waits included.'
    text.family('seglog_request_duration_seconds', 'histogram', help)
    for (const { labels, counts } of apis) counts.durations.write(text, labels)
    text.family('seglog_requests_in_flight', 'gauge', 'Requests that are being answered.')
    text.sample(this.#inFlight)
  }
}
