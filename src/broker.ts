/**
 * A broker: wires the layers, starts them in order, and stops them in the reverse one.
 *
 * `start` resolves when clients can be served: directories locked and recovered, topics loaded,
 * listeners open. It leaves nothing behind when it rejects. `close` finishes the requests under
 * way, closes every log in order, and frees all descriptors, mappings, threads and timers.
 */
import { rm } from 'node:fs/promises'
import { hostname } from 'node:os'
import { badArgument, checkOptions, checkWhole, given } from './arguments.js'
import { openParts, type Parts, type Undo } from './broker-parts.js'
import { brokerZNode } from './coordination/znodes.js'
import type { Env } from './env.js'
import { SeglogError } from './errors.js'
import type { Endpoint } from './handlers/context.js'
import { handlers } from './handlers/registry.js'
import type { Logger } from './logger.js'
import { dispatcher } from './server/dispatch.js'
import { ConnectionQuota, Listener } from './server/listener.js'
import { RequestMemory } from './server/request-memory.js'

export interface BrokerOptions {
  /** Port on 127.0.0.1; 0 takes a free one. Left out: `listeners` of `config`. */
  port?: number
  /**
   * Where the data lies (`log.dirs`). Left out of both: a temporary directory that `close` removes.
   */
  dataDir?: string
  /** Kafka's configuration keys. */
  config?: Readonly<Record<string, string | number | boolean>>
  /** Left out: warnings and errors go to stderr. */
  logger?: Logger
  env?: Env
}

export class Broker {
  /** The port of the first listener. */
  readonly port: number
  /** host:port, as clients take it. */
  readonly bootstrap: string
  readonly brokerId: number
  readonly clusterId: string
  /** Absolute paths of the log directories. */
  readonly dataDirs: readonly string[]
  readonly coordination: string
  /** The port of metrics and health, where `metrics.port` asks for one. */
  readonly metricsPort: number | undefined
  readonly #parts: Parts
  #closing: Promise<void> | undefined

  private constructor(parts: Parts, endpoint: Endpoint) {
    this.#parts = parts
    this.port = endpoint.port
    const { host, port } = endpoint
    this.bootstrap = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
    this.brokerId = parts.context.brokerId
    this.clusterId = parts.context.clusterId
    this.dataDirs = parts.dataDirs
    this.coordination = parts.coordination.kind
    this.metricsPort = parts.metrics?.port
  }

  /**
   * Starts a broker in this process. Rejects with BAD_ARGUMENT, INVALID_CONFIG, LOCKED (directory
   * in use), CORRUPT (meta.properties, coordination), ADDRESS_IN_USE, or an error of the disk.
   */
  static async start(options: BrokerOptions = {}): Promise<Broker> {
    checkGiven(options)
    const undo: Undo = []
    try {
      return await start(options, undo)
    } catch (error) {
      for (const step of undo.reverse()) await step().catch(() => {})
      throw error
    }

    async function start(options: BrokerOptions, undo: Undo): Promise<Broker> {
      const parts = await openParts(options, undo)
      const endpoints = await listen(parts, undo)
      parts.metrics?.ready(parts)
      return new Broker(parts, endpoints[0]!)
    }
  }

  /**
   * Stops in order; later calls get the same promise. Rejects where a log could not be closed
   * cleanly.
   */
  close(): Promise<void> {
    this.#closing ??= closeParts(this.#parts).finally(() => this.#parts.metrics?.close())
    return this.#closing
  }
}

/** Requests under way get this long to finish when the broker stops, ms. */
const DRAIN_MS = 3000

const FIELDS = ['port', 'dataDir', 'config', 'logger', 'env']

/** What is of the wrong form, or called by a wrong name, would else show up much later. */
function checkGiven(options: BrokerOptions): void {
  checkOptions('Broker.start', options, FIELDS)
  const { port, dataDir, config } = options
  if (port !== undefined) checkWhole('port', port, 0, 65_535)
  if (dataDir !== undefined && (typeof dataDir !== 'string' || dataDir === '')) {
    badArgument(`dataDir is the path of a directory, not ${given(dataDir)}`)
  }
  if (config === undefined) return
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    badArgument(`config is an object of Kafka's keys, not ${given(config)}`)
  }
}

async function listen(parts: Parts, undo: Undo): Promise<Endpoint[]> {
  const { context, listeners, logger, coordination, metrics } = parts
  const { config, env } = context
  const endpoints: Endpoint[] = []
  const quota = new ConnectionQuota(
    () => config.get('max.connections'),
    () => config.get('max.connections.per.ip'),
  )
  const memory = new RequestMemory(config.get('queued.max.request.bytes'), env)
  parts.memory = memory
  undo.push(async () => {
    memory.close()
    await Promise.all(listeners.map((listener) => listener.close(0)))
  })
  for (const [i, { host, port }] of config.listeners.entries()) {
    const endpoint = { host: '', port: 0 }
    const dispatch = dispatcher(handlers, context, endpoint)
    const listener = await Listener.open(
      {
        host,
        port,
        maxFrameBytes: config.get('socket.request.max.bytes'),
        maxIdleMs: config.get('connections.max.idle.ms'),
        quota,
        memory,
      },
      metrics ? metrics.measured(dispatch) : dispatch,
      env,
      logger,
    )
    listeners.push(listener)
    const advertised = config.advertisedListeners[i]
    endpoint.host = reachableHost(advertised?.host || host, listener)
    endpoint.port = advertised?.port || listener.port
    endpoints.push(endpoint)
  }
  const first = endpoints[0]
  if (!first) throw new SeglogError('INVALID_CONFIG', 'listeners: none given')
  const znode = brokerZNode.encode(first.host, first.port, env.now())
  await coordination.create(brokerZNode.path(context.brokerId), znode, { ephemeral: true })
  return endpoints
}

/**
 * An address that means "any" cannot be connected to; the machine's name can. A client may find
 * another address behind localhost than the one that is listened on.
 */
function reachableHost(host: string, listener: Listener): string {
  if (host === 'localhost' && listener.host === host) return listener.address
  return host === '' || host === '0.0.0.0' || host === '::' ? hostname() : host
}

async function closeParts(parts: Parts): Promise<void> {
  const { context, listeners, coordination, logs, temporary } = parts
  parts.metrics?.stopping()
  context.groups.close()
  // Whoever is parked gets an answer now, and whoever asks again is not heard any more.
  const drained = Promise.all(listeners.map((listener) => listener.close(DRAIN_MS)))
  context.deadlines.expireAll()
  await Promise.all([drained, context.topics.close()])
  context.deadlines.close()
  parts.memory?.close()
  // One that fails does not keep the others from letting go of what they hold.
  const results = await Promise.allSettled([coordination.close(), logs.close()])
  if (temporary !== undefined) await rm(temporary, { recursive: true, force: true })
  const failed = results.find((result) => result.status === 'rejected')
  if (failed) throw failed.reason
}
