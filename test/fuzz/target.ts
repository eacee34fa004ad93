/**
 * The broker that is fuzzed: a child process with small segments and short sessions, whose memory
 * is watched and whose complaints are counted by kind. A complaint with a stack is an error that
 * nobody foresaw, and so a fault.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { heldObjects, type Objects, snapshotArguments } from './heap.js'

const main = join(import.meta.dirname, '..', '..', 'src', 'cli', 'main.js')
const WATCH_MS = 100
const KINDS_MAX = 500

/** What clients may make or keep is short-lived, so that what grows is a leak. */
const config = {
  listeners: 'PLAINTEXT://127.0.0.1:0',
  'auto.create.topics.enable': false,
  'num.partitions': 1,
  'log.format': 'json',
  'log.segment.bytes': 1 << 20,
  'log.index.size.max.bytes': 1 << 16,
  'log.retention.bytes': 4 << 20,
  'log.retention.check.interval.ms': 2000,
  'log.segment.delete.delay.ms': 500,
  'offsets.topic.num.partitions': 4,
  'offsets.topic.segment.bytes': 4 << 20,
  'group.initial.rebalance.delay.ms': 0,
  'group.min.session.timeout.ms': 1,
  'group.max.session.timeout.ms': 2000,
  'producer.id.expiration.ms': 2000,
  'max.incremental.fetch.session.cache.slots': 50,
}

export interface Memory {
  startKiB: number
  peakKiB: number
  endKiB: number
}

export class Target {
  readonly folder: string
  readonly memory: Memory = { startKiB: 0, peakKiB: 0, endKiB: 0 }
  /** Complaints, numbers and names left out, and how often each came. */
  readonly complaints = new Map<string, number>()
  #child: ChildProcess | undefined
  #watch: NodeJS.Timeout | undefined
  #ended = false
  readonly #fault: (what: string) => void

  constructor(fault: (what: string) => void) {
    this.folder = mkdtempSync(join(tmpdir(), 'seglog-fuzz-'))
    this.#fault = fault
  }

  /** Resolves with the port when the broker serves. */
  async start(): Promise<number> {
    const settings = { ...config, 'log.dirs': join(this.folder, 'data') }
    const overrides = Object.entries(settings).flatMap(([key, value]) => [
      '--override',
      `${key}=${value}`,
    ])
    const arguments_ = [...snapshotArguments(this.folder), main, 'broker', ...overrides]
    const child = spawn(process.execPath, arguments_, {
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child = child
    process.on('exit', () => child.kill('SIGKILL'))
    child.on('exit', (code, signal) => {
      if (!this.#ended) this.#fault(`the broker ended with ${code ?? signal}`)
      this.#ended = true
    })
    createInterface(child.stderr).on('line', (line) => this.#complaint(line))
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string]
    this.memory.startKiB = this.residentKiB()
    this.#watch = setInterval(() => this.residentKiB(), WATCH_MS)
    return Number(/:(\d+) /.exec(line)?.[1])
  }

  /** What it holds after a collection, by class. Keeps it from its clients for a moment. */
  objects(): Promise<Objects> {
    return heldObjects(this.#child?.pid ?? -1, this.folder)
  }

  /** Ends the broker, which must end well, and removes its data. */
  async stop(): Promise<void> {
    clearInterval(this.#watch)
    this.memory.endKiB = this.residentKiB()
    const child = this.#child
    if (child !== undefined && !this.#ended) {
      this.#ended = true
      const exited = once(child, 'exit')
      child.kill('SIGTERM')
      const timer = setTimeout(() => child.kill('SIGKILL'), 20_000)
      const [code, signal] = await exited
      clearTimeout(timer)
      if (code !== 0) this.#fault(`the broker ended with ${code ?? signal} when it was stopped`)
    }
    rmSync(this.folder, { recursive: true, force: true })
  }

  /** Resident memory now. */
  residentKiB(): number {
    if (this.#ended) return this.memory.endKiB
    try {
      const status = readFileSync(`/proc/${this.#child?.pid}/status`, 'utf8')
      const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1])
      this.memory.peakKiB = Math.max(this.memory.peakKiB, resident)
      return resident
    } catch {
      return 0
    }
  }

  #complaint(line: string): void {
    const { kind, unforeseen } = complaintOf(line)
    if (unforeseen) this.#fault(`the broker complained: ${line}`)
    if (this.complaints.size >= KINDS_MAX && !this.complaints.has(kind)) return
    this.complaints.set(kind, (this.complaints.get(kind) ?? 0) + 1)
  }
}

/**
 * A line that the broker logged, numbers and names left out, and whether it tells of an error with
 * a stack, or is no line of the log at all.
 */
export function complaintOf(line: string): { kind: string; unforeseen: boolean } {
  let text: string
  try {
    const { level, msg } = JSON.parse(line)
    text = `${level} ${msg}`
  } catch {
    return { kind: line, unforeseen: true }
  }
  const kind = text
    .replace(/'[^']*'|"[^"]*"/g, "'…'")
    .replace(/-?\d+(\.\d+)*(:\d+)?/g, '#')
    .slice(0, 120)
  return { kind, unforeseen: /\n\s+at /.test(text) }
}
