/**
 * The fuzzer of the broker over the wire. Connections, each of which sends bursts of requests that
 * are plain, bent, changed in their bytes, spliced or mislaid, to a broker in a process of its own,
 * while a client that behaves well goes on beside them.
 *
 * A fault is: a broker that ends or complains of what it did not foresee, an answer that does not
 * come, or that belongs to nothing, a connection that ends without cause or does not end with
 * cause, a well-behaved client that is disturbed. What is sent follows from the seed, but not which
 * connection sends it when; what a connection sent last is told with its fault.
 */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { createPartitions } from '../../src/apis/create-partitions.js'
import { createTopics } from '../../src/apis/create-topics.js'
import { deleteRecords } from '../../src/apis/delete-records.js'
import { deleteTopics } from '../../src/apis/delete-topics.js'
import { describeLogDirs } from '../../src/apis/describe-log-dirs.js'
import { apiByKey } from '../../src/apis/registry.js'
import { readRequestHeader } from '../../src/protocol/frame.js'
import { type Random, seeded } from '../protocol/random.js'
import { grown, type Objects } from './heap.js'
import { Housekeeper } from './housekeeper.js'
import { mislaid, mutatedFrame } from './mutations.js'
import { Peer, type PeerTally } from './peer.js'
import { type MadeRequest, RequestMaker } from './requests.js'
import { SteadyClient } from './steady.js'
import { Target } from './target.js'

export interface WireFuzzOptions {
  seed: number
  /** Ends when so many were sent, or */
  requests: number
  /** when so much time is over. */
  seconds: number
  connections?: number
  /** A line on how it goes on, now and then. */
  tell?: (line: string) => void
}

export interface WireFuzzReport extends PeerTally {
  sent: number
  elapsedMs: number
  faults: string[]
  /** Resident memory of the broker: when it began to serve, at most, and when all was over. */
  startKiB: number
  peakKiB: number
  endKiB: number
  /** The same as it went: at each quarter of the requests. */
  quartersKiB: number[]
  steadyRounds: number
  steadyMsMax: number
  complaints: Map<string, number>
}

const CONNECTIONS = 24
const PENDING_MAX = 16
const BURST_MAX = 8
const CORPUS_ROUNDS = 6
/** What makes, removes or visits files comes less often: it takes as long as fifty others. */
const COSTLY: ReadonlySet<number> = new Set(
  [createTopics, deleteTopics, deleteRecords, describeLogDirs, createPartitions].map(
    ({ key }) => key,
  ),
)
const COSTLY_SENT = 0.15
/** In a request that is not refused for their number. */
const PARTITIONS_SENT_MAX = 20
/** How often a client goes without a word once it has sent a burst. */
const VANISHING = 0.03
const LOOK_MS = 50
/** Sessions and connections have ended by then. */
const SETTLE_MS = 3000
/** From so many requests on, it pays to count the broker's objects. */
const OBJECTS_FROM = 100_000
/** How long what may wait is waited for, and how long all else. */
const PATIENCE_MS = 150
const BOUND_MS = 30_000
const FAULTS_MAX = 10
/**
 * How often the last of a burst may be one that our own reader refuses. It ends the connection, and
 * what was sent before it and not yet read is never looked at.
 */
const MALFORMED_SENT = 0.25

export class WireFuzzer {
  readonly #options: WireFuzzOptions
  readonly #random: Random
  readonly #target: Target
  readonly #faults = new Map<string, number>()
  readonly #peers = new Set<Peer>()
  /** Those that never send anything but plain requests. */
  readonly #clean = new WeakSet<Peer>()
  readonly #tally: PeerTally = {
    answered: 0,
    closedByBroker: 0,
    leftWaiting: 0,
    answerBytes: 0,
    answerBytesMax: 0,
  }
  #corpus: MadeRequest[] = []
  #maker: RequestMaker | undefined
  #kind = 0
  #port = 0
  #sent = 0
  #ending = false

  constructor(options: WireFuzzOptions) {
    this.#options = options
    this.#random = seeded(options.seed)
    this.#target = new Target((what) => this.#fault(undefined, what))
  }

  async run(): Promise<WireFuzzReport> {
    this.#port = await this.#target.start()
    const keeper = await Housekeeper.start(this.#port, (what) => this.#fault(undefined, what))
    const steady = new SteadyClient(this.#port, (error) =>
      this.#fault(undefined, `the steady client: ${String(error)}`),
    )
    this.#maker = new RequestMaker(this.#random, keeper.places)
    for (let kind = 0; kind < this.#maker.kinds * CORPUS_ROUNDS; kind++) this.#renew()
    const began = performance.now()
    for (let i = 0; i < (this.#options.connections ?? CONNECTIONS); i++) this.#connect(i % 6 === 0)
    const { quartersKiB, objects } = await this.#untilOver(began)
    const elapsedMs = performance.now() - began
    this.#ending = true
    await this.#drain()
    await steady.stop()
    await keeper.stop()
    await this.#judgeObjects(objects)
    await this.#target.stop()
    const faults = [...this.#faults].map(([what, count]) => `${what} (${count} times)`)
    return {
      ...this.#tally,
      ...this.#target.memory,
      sent: this.#sent,
      elapsedMs,
      faults,
      quartersKiB,
      steadyRounds: steady.tally.rounds,
      steadyMsMax: steady.tally.msMax,
      complaints: this.#target.complaints,
    }
  }

  get #over(): boolean {
    return this.#sent >= this.#options.requests || this.#faults.size >= FAULTS_MAX || this.#ending
  }

  /** With all clients gone, the broker has no more of anything than it had when they were busy. */
  async #judgeObjects(busy: Objects | undefined): Promise<void> {
    if (busy === undefined) return
    await sleep(SETTLE_MS)
    for (const what of grown(busy, await this.#target.objects())) this.#fault(undefined, what)
  }

  async #untilOver(began: number): Promise<{ quartersKiB: number[]; objects?: Objects }> {
    const { requests, seconds, tell } = this.#options
    const quarters: number[] = []
    let objects: Objects | undefined
    let toldAt = began
    while (!this.#over && performance.now() - began < seconds * 1000) {
      await sleep(LOOK_MS)
      const now = performance.now()
      for (const peer of this.#peers) peer.look(now, PATIENCE_MS, BOUND_MS)
      const done = Math.max(this.#sent / requests, (now - began) / seconds / 1000)
      while (quarters.length < 3 && done * 4 >= quarters.length + 1) {
        quarters.push(this.#target.residentKiB())
      }
      if (requests >= OBJECTS_FROM && objects === undefined && done >= 0.2) {
        objects = await this.#target.objects()
      }
      if (now - toldAt > 10_000) {
        toldAt = now
        const mib = Math.round(this.#target.residentKiB() / 1024)
        tell?.(`${this.#sent} sent, ${this.#tally.answered} answered, ${mib} MiB resident`)
      }
    }
    return { quartersKiB: quarters, ...(objects ? { objects } : {}) }
  }

  /** Waits until every connection has what it is owed, or has been left. */
  async #drain(): Promise<void> {
    for (const end = performance.now() + 2 * BOUND_MS; performance.now() < end; ) {
      for (const peer of this.#peers) {
        if (peer.pending === 0 && peer.missingBytes === 0) peer.leave()
        else peer.look(performance.now(), PATIENCE_MS, BOUND_MS)
      }
      if (this.#peers.size === 0) return
      await sleep(LOOK_MS)
    }
    this.#fault(undefined, `${this.#peers.size} connections neither answered nor ended`)
  }

  #connect(clean: boolean): void {
    const peer = new Peer(
      this.#port,
      {
        fault: (from, what) => this.#fault(from, what),
        answer: (key, version, frame) => this.#learn(key, version, frame),
        progress: (from) => this.#pump(from),
        closed: (from) => {
          this.#peers.delete(from)
          if (!this.#over) this.#connect(clean)
        },
      },
      this.#tally,
    )
    if (clean) this.#clean.add(peer)
    this.#peers.add(peer)
  }

  #fault(peer: Peer | undefined, what: string): void {
    const kind = what.replace(/\d+/g, '#')
    if (this.#faults.has(kind)) {
      this.#faults.set(kind, (this.#faults.get(kind) ?? 0) + 1)
      return
    }
    this.#faults.set(kind, 1)
    const path = join(tmpdir(), `seglog-fuzz-${process.pid}-${this.#faults.size}.hex`)
    const peers = peer === undefined ? [...this.#peers] : [peer]
    const text = peers.map(({ writes }) => writes.map((each) => each.toString('hex')).join('\n'))
    writeFileSync(path, `${what}\n${text.join('\n\n')}\n`)
    this.#options.tell?.(`FAULT ${what}; what was sent last is in ${path}`)
  }

  /** One more request in the corpus, or one instead of another. */
  #renew(): void {
    const maker = this.#maker
    if (maker === undefined) return
    const size = maker.kinds * CORPUS_ROUNDS
    const round = Math.floor(this.#kind / maker.kinds)
    this.#corpus[this.#kind % size] = maker.make(this.#kind, round % 2 === 0)
    this.#kind++
  }

  #learn(key: number, version: number, frame: Buffer): void {
    try {
      this.#maker?.learn(key, version, frame)
    } catch (error) {
      this.#fault(undefined, `an answer of API ${key} v${version} that does not fit: ${error}`)
    }
  }

  #pump(peer: Peer): void {
    while (!this.#over && peer.open && peer.missingBytes === 0) {
      // Behind what may end the connection nothing is sent before that is known.
      if (peer.pending >= (peer.doubtful ? 1 : PENDING_MAX)) return
      peer.doubtful = false
      const frames: Buffer[] = []
      const clean = this.#clean.has(peer)
      for (let left = 1 + this.#random.below(BURST_MAX); left > 0; left--) {
        frames.push(clean ? this.#plain() : this.#any(peer, left === 1))
        this.#sent++
        if (this.#random.chance(0.1)) this.#renew()
      }
      this.#write(peer, Buffer.concat(frames))
      if (!clean && this.#random.chance(VANISHING)) peer.leave()
    }
  }

  #write(peer: Peer, bytes: Buffer): void {
    const random = this.#random
    const cut = random.chance(0.1) ? random.below(bytes.length) : 0
    if (cut > 0) peer.send(bytes.subarray(0, cut))
    peer.send(bytes.subarray(cut))
    const { missingBytes } = peer
    if (missingBytes > 0 && missingBytes <= 4096 && random.chance(0.8)) {
      peer.send(Buffer.from(random.bytes(missingBytes)))
    }
  }

  #plain(): Buffer {
    for (;;) {
      const { frame, plain } = this.#pick()
      if (plain) return frame
    }
  }

  #pick(): MadeRequest {
    for (;;) {
      const request = this.#random.pick(this.#corpus)
      if (!COSTLY.has(request.key) || this.#random.chance(COSTLY_SENT)) return request
    }
  }

  /** `last` where it may be one that ends the connection. */
  #any(peer: Peer, last: boolean): Buffer {
    peer.insulted = true
    const random = this.#random
    const { frame } = this.#pick()
    const how = random.below(100)
    if (how < 25) return frame
    const lenient = last && random.chance(MALFORMED_SENT)
    peer.doubtful = lenient
    if (lenient && how < 40) return mislaid(frame, random)
    for (let tries = 0; tries < 4; tries++) {
      const changed = mutatedFrame(frame, random.pick(this.#corpus).frame, random)
      if ((lenient || isReadable(changed)) && !isLavish(changed)) return changed
    }
    return frame
  }
}

/** Whether our own reader takes the request. */
function isReadable(frame: Buffer): boolean {
  return bodyOf(frame) !== undefined
}

/** Whether a request asks for so many partitions that making them takes all the time there is. */
function isLavish(frame: Buffer): boolean {
  const key = frame.length < 6 ? -1 : frame.readInt16BE(4)
  if (key !== createTopics.key && key !== createPartitions.key) return false
  const asked = JSON.stringify(bodyOf(frame) ?? {}).matchAll(/"(?:numPartitions|count)":(\d+)/g)
  return [...asked].some(([, count]) => Number(count) > PARTITIONS_SENT_MAX)
}

function bodyOf(frame: Buffer): unknown {
  const { stackTraceLimit } = Error
  // Where each error came from would take more time than all else here.
  Error.stackTraceLimit = 0
  try {
    const { api, apiVersion, reader } = readRequestHeader(frame.subarray(4), apiByKey)
    return api?.request.read(reader, apiVersion)
  } catch {
    return undefined
  } finally {
    Error.stackTraceLimit = stackTraceLimit
  }
}

/** Runs the fuzzer to its end. */
export function fuzzWire(options: WireFuzzOptions): Promise<WireFuzzReport> {
  return new WireFuzzer(options).run()
}
