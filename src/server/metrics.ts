/**
 * The port for operators, off unless `metrics.port` is set: `/metrics` in Prometheus' text,
 * `/health` (the process lives and its event loop turns), `/ready` (clients are served). It listens
 * before the logs are recovered, so that a long recovery is seen to be one, and until the broker
 * has closed.
 *
 * Whoever can reach the port can read all of it: it is bound to 127.0.0.1 unless `metrics.host`
 * says otherwise.
 */
import type { Env, Timer } from '../env.js'
import type { Logger } from '../logger.js'
import type { Dispatch } from './connection.js'
import { type Measured, writeBroker } from './metrics-broker.js'
import { HttpEndpoint, type HttpReply } from './metrics-http.js'
import { RequestMetrics } from './metrics-requests.js'
import { DurationHistogram, METRICS_TYPE, MetricsText } from './metrics-text.js'

export type ServingState = 'starting' | 'ready' | 'stopping'

export interface MetricsOptions {
  host: string
  /** 0 takes a free one; below 0 there are no metrics. */
  port: number
}

const JSON_TYPE = 'application/json; charset=utf-8'
/** How often it is measured how late a timer comes. */
const LAG_MS = 100

const SCRAPE_SHARE = 10

export class Metrics {
  readonly #env: Env
  readonly #requests: RequestMetrics
  readonly #flushes = new DurationHistogram()
  readonly #lags = new DurationHistogram()
  readonly #startedMs: number
  #endpoint: HttpEndpoint | undefined
  #lagTimer: Timer | undefined
  #broker: Measured | undefined
  #state: ServingState = 'starting'
  #last: { text: string; untilMs: number } | undefined

  private constructor(env: Env) {
    this.#env = env
    this.#requests = new RequestMetrics(() => env.monotonic())
    this.#startedMs = env.now()
  }

  /** Undefined where metrics are off. Rejects with ADDRESS_IN_USE or IO. */
  static async open(
    { host, port }: MetricsOptions,
    env: Env,
    logger: Logger,
  ): Promise<Metrics | undefined> {
    if (port < 0) return undefined
    const metrics = new Metrics(env)
    const handler = (path: string) => metrics.#answer(path)
    metrics.#endpoint = await HttpEndpoint.open({ host, port }, handler, env, logger)
    metrics.#measureLag()
    const name = host.includes(':') ? `[${host}]` : host
    logger.info(`metrics and health are on http://${name}:${metrics.port}/metrics`)
    return metrics
  }

  /** The port that it really listens on. */
  get port(): number {
    return this.#endpoint?.port ?? -1
  }

  /** The same dispatcher, counted. */
  measured(dispatch: Dispatch): Dispatch {
    return this.#requests.measured(dispatch)
  }

  /** A sync of a log to the disk took so long, ms. */
  flushed(ms: number): void {
    this.#flushes.add(ms)
  }

  /** Clients are served from now on. */
  ready(broker: Measured): void {
    this.#broker = broker
    this.#state = 'ready'
  }

  /** They are not any more. */
  stopping(): void {
    this.#state = 'stopping'
    this.#broker = undefined
  }

  async close(): Promise<void> {
    this.#lagTimer?.cancel()
    await this.#endpoint?.close()
  }

  #measureLag(): void {
    const beganMs = this.#env.monotonic()
    this.#lagTimer = this.#env.after(LAG_MS, () => {
      this.#lags.add(Math.max(0, this.#env.monotonic() - beganMs - LAG_MS))
      this.#measureLag()
    })
  }

  #answer(path: string): HttpReply {
    if (path === '/metrics') return { status: 200, type: METRICS_TYPE, body: this.#scraped() }
    if (path === '/health') return status(200, { status: 'alive' })
    if (path === '/ready') {
      return status(this.#state === 'ready' ? 200 : 503, { status: this.#state })
    }
    const body = 'there are /metrics, /health and /ready\n'
    return { status: 404, type: 'text/plain; charset=utf-8', body }
  }

  /** Made anew after ten times as long as it took: scrapers get a tenth of the thread. */
  #scraped(): string {
    const beganMs = this.#env.monotonic()
    if (this.#last !== undefined && beganMs < this.#last.untilMs) return this.#last.text
    const text = this.text()
    const endedMs = this.#env.monotonic()
    this.#last = { text, untilMs: endedMs + SCRAPE_SHARE * (endedMs - beganMs) }
    return text
  }

  text(): string {
    const text = new MetricsText()
    const ready = 'Whether clients are served: 1, else 0.'
    text.family('seglog_ready', 'gauge', ready).sample(this.#state === 'ready' ? 1 : 0)
    this.#requests.write(text)
    text.family('seglog_log_flush_duration_seconds', 'histogram', 'Syncs of logs to the disk.')
    this.#flushes.write(text)
    const lag = 'How much later than asked for a timer came.'
    text.family('seglog_event_loop_lag_seconds', 'histogram', lag)
    this.#lags.write(text)
    if (this.#broker) writeBroker(text, this.#broker)
    this.#writeProcess(text)
    return text.toString()
  }

  #writeProcess(text: MetricsText): void {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const gauge = (name: string, help: string, value: number) =>
      text.family(`seglog_process_${name}`, 'gauge', help).sample(value)
    gauge('resident_memory_bytes', 'Memory that the process occupies.', rss)
    gauge('heap_used_bytes', "Of JavaScript's heap, what is used.", heapUsed)
    gauge('heap_total_bytes', "JavaScript's heap.", heapTotal)
    gauge('external_memory_bytes', 'Memory of buffers and the like beside the heap.', external)
    const start = 'When it started, in seconds since 1970.'
    gauge('start_time_seconds', start, this.#startedMs / 1000)
    text.family('seglog_process_cpu_seconds_total', 'counter', 'User and system time.')
    text.sample((user + system) / 1e6)
  }
}

function status(code: 200 | 503, body: object): HttpReply {
  return { status: code, type: JSON_TYPE, body: `${JSON.stringify(body)}\n` }
}
