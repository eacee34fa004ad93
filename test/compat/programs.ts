/**
 * Runs programs: the broker as a child process, and anything else with its output captured and its
 * time bounded. Whatever is left behind, children and temporary folders alike, goes when this
 * process exits.
 *
 * With SEGLOG_TEST_BOOTSTRAP=HOST:PORT the tests that only talk to a broker talk to that one
 * instead, which need not be seglog: so one learns whether a test is right, or how another broker
 * answers.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '..', '..', '..')
export const main = join(root, 'dist', 'src', 'cli', 'main.js')

const folders = new Set<string>()
const children = new Set<ChildProcess>()

process.on('exit', () => {
  for (const child of children) child.kill('SIGKILL')
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

/** A fresh folder, which lasts as long as the process of the test file. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'seglog-test-'))
  folders.add(folder)
  return folder
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

/** Asks again and again until the answer is yes. Rejects after `timeoutMs`. */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`no ${what} within ${timeoutMs} ms`)
    await sleep(20)
  }
}

export interface Exit {
  code: number | null
  signal: NodeJS.Signals | null
}

export interface Running {
  readonly child: ChildProcess
  readonly exited: Promise<Exit>
  stdout(): Buffer
  stderr(): string
}

/** Starts a program whose output is collected. */
export function start(command: string, args: readonly string[], env = process.env): Running {
  const child = spawn(command, args, { cwd: root, env })
  children.add(child)
  const out: Buffer[] = []
  const err: Buffer[] = []
  child.stdout.on('data', (bytes: Buffer) => out.push(bytes))
  child.stderr.on('data', (bytes: Buffer) => err.push(bytes))
  // A program that ends before it has read all of its input is judged by its exit code.
  child.stdin.on('error', () => {})
  const exited = new Promise<Exit>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => {
      children.delete(child)
      resolve({ code, signal })
    })
  })
  exited.catch(() => {})
  const stdout = () => Buffer.concat(out)
  return { child, exited, stdout, stderr: () => Buffer.concat(err).toString() }
}

export interface RunOptions {
  input?: string | Buffer
  timeoutMs?: number
  /** The exit code to insist on; 0 unless given, 'any' for none. */
  expect?: number | 'any'
}

export interface Finished extends Exit {
  stdout: Buffer
  text: string
  stderr: string
}

/** Waits for a program to end, and kills it when it has not ended in time, which is an error. */
export async function within(running: Running, timeoutMs: number): Promise<Exit> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), timeoutMs)
  })
  const exit = await Promise.race([running.exited, late])
  clearTimeout(timer)
  if (exit) return exit
  running.child.kill('SIGKILL')
  await running.exited
  throw new Error(`still running after ${timeoutMs} ms:\n${running.stderr()}`)
}

/**
 * Runs a program to its end. Rejects when it takes too long or ends with another code than
 * expected.
 */
export async function run(
  command: string,
  args: readonly string[],
  { input = '', timeoutMs = 60_000, expect = 0 }: RunOptions = {},
): Promise<Finished> {
  const running = start(command, args)
  running.child.stdin?.end(input)
  const exit = await within(running, timeoutMs)
  const stdout = running.stdout()
  const finished = { ...exit, stdout, text: stdout.toString(), stderr: running.stderr() }
  if (expect !== 'any' && exit.code !== expect) {
    const how = `ended with ${exit.code ?? exit.signal}`
    throw new Error(`${command} ${args.join(' ')} ${how}:\n${finished.text}${finished.stderr}`)
  }
  return finished
}

export interface BrokerOptions {
  dataDir?: string
  port?: number
  config?: Readonly<Record<string, string | number>>
  /** A command, with its arguments, that runs the broker given as its further arguments. */
  under?: readonly string[]
}

export interface TestBroker {
  readonly bootstrap: string
  readonly host: string
  readonly port: number
  readonly dataDir: string
  readonly pid: number
  /** From the start of the process to its ready line. */
  readonly readyMs: number
  readonly readyLine: string
  stderr(): string
  signal(name: NodeJS.Signals): void
  readonly exited: Promise<Exit>
  /** Ends it by SIGTERM, as an operator does. Rejects when it is still there after 10 s. */
  stop(): Promise<Exit>
  /** Ends it by SIGKILL, as a crash does. */
  kill(): Promise<Exit>
}

const ready = /^seglog broker \d+ ready on ([^:\s]+):(\d+) \(data: .*, coordination: \w+\)$/m

function external(address: string): TestBroker {
  const [host = '', port] = address.split(':')
  const refuse = () => {
    throw new Error('this test needs a broker of its own; unset SEGLOG_TEST_BOOTSTRAP')
  }
  return {
    bootstrap: address,
    host,
    port: Number(port),
    get dataDir(): string {
      return refuse()
    },
    get pid(): number {
      return refuse()
    },
    readyMs: 0,
    readyLine: '',
    stderr: () => '',
    signal: refuse,
    exited: new Promise(() => {}),
    stop: async () => ({ code: 0, signal: null }),
    kill: async () => refuse(),
  }
}

export function brokerArguments(options: BrokerOptions & { dataDir: string }): string[] {
  const config = {
    listeners: `PLAINTEXT://127.0.0.1:${options.port ?? 0}`,
    'log.dirs': options.dataDir,
    ...options.config,
  }
  const overrides = Object.entries(config).flatMap(([key, value]) => [
    '--override',
    `${key}=${value}`,
  ])
  return [main, 'broker', ...overrides]
}

async function readyOf(running: Running): Promise<RegExpExecArray> {
  let ended: Exit | undefined
  void running.exited.then((exit) => {
    ended = exit
  })
  const match = () => ready.exec(running.stdout().toString())
  try {
    await until('ready line', () => match() !== null || ended !== undefined, 20_000)
  } catch (error) {
    running.child.kill('SIGKILL')
    throw error
  }
  const found = match()
  if (found) return found
  throw new Error(`the broker ended with ${ended?.code ?? ended?.signal}:\n${running.stderr()}`)
}

/**
 * Starts a broker on a free port and a fresh folder, unless given, and waits until it says that it
 * serves.
 */
export async function startBroker(options: BrokerOptions = {}): Promise<TestBroker> {
  const address = process.env.SEGLOG_TEST_BOOTSTRAP
  if (address) return external(address)
  const dataDir = options.dataDir ?? temporaryFolder()
  const [command = process.execPath, ...before] = [...(options.under ?? []), process.execPath]
  const began = performance.now()
  const running = start(command, [...before, ...brokerArguments({ ...options, dataDir })])
  const [readyLine = '', host = '', port = ''] = await readyOf(running)
  return {
    bootstrap: `${host}:${port}`,
    host,
    port: Number(port),
    dataDir,
    pid: running.child.pid ?? -1,
    readyMs: performance.now() - began,
    readyLine,
    stderr: running.stderr,
    signal: (name) => void running.child.kill(name),
    exited: running.exited,
    stop() {
      running.child.kill('SIGTERM')
      return within(running, 10_000)
    },
    kill() {
      running.child.kill('SIGKILL')
      return within(running, 10_000)
    },
  }
}

/** A number of the kernel's account of a process, as VmRSS or VmPeak, in KiB. */
export function memoryKiB(pid: number, name: 'VmRSS' | 'VmSize' | 'VmPeak'): number {
  const match = new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(
    readFileSync(`/proc/${pid}/status`, 'utf8'),
  )
  if (!match) throw new Error(`no ${name} of process ${pid}`)
  return Number(match[1])
}
