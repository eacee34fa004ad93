/**
 * The contract between the matrix and a driver, which is a small program around one foreign client,
 * in the language of that client. It is started with the bootstrap address as its last argument,
 * reads commands from its standard input, one a line, words parted by one space, and answers each
 * with one line: `ok`, with words behind it where the table says so, or `failed` and a text. The
 * next command comes when the last one is answered. At the end of its input it closes what it has
 * opened and ends with 0. Other lines of its output are kept for the report of a failure.
 *
 * | command | what it does | behind ok |
 * |---|---|---|
 * | create TOPIC PARTITIONS | creates it, or, without that call, asks for it until it is there | |
 * | topics | | names |
 * | produce TOPIC CODEC FIRST COUNT | the records from number FIRST on, all acknowledged | |
 * | consume TOPIC PARTITIONS | tells each record from the start to the present end | |
 * | join GROUP TOPIC ASSIGNOR | joins, and tells assignments and records until it leaves | |
 * | commit | commits what it has told of the topic, again and again while the group forms | |
 * | store GROUP TOPIC OFFSET... | commits these, by partition, without being a member | |
 * | committed GROUP TOPIC PARTITIONS | | offsets by partition, -1 for none |
 * | leave | leaves the group | |
 * | delete TOPIC | | |
 *
 * Told are `record PARTITION OFFSET KEY VALUE`, of a group from the start where nothing was
 * committed, and `assigned PARTITION...`, all that the member then has. Record N goes to partition
 * N modulo 4, has the key `kN` and the value of `textOf`. A session of a group lasts 6 seconds.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

export const partitionCount = 4
export const keyOf = (number: number) => `k${number}`

/** Long enough, and even enough, that every codec makes it smaller. */
export const textOf = (codec: string, number: number) =>
  `${codec}-${number} ${'seglog.'.repeat(20)}`

export interface Told {
  partition: number
  offset: number
  key: string
  value: string
}

export interface Command {
  command: string
  args: readonly string[]
  env?: Readonly<Record<string, string>>
}

const running = new Set<ChildProcess>()

/** Some drivers run the client as a child of their own: all of the group goes. */
function killGroup(child: ChildProcess): void {
  try {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has ended by itself.
  }
}

process.on('exit', () => {
  for (const child of running) killGroup(child)
})

type Settle = { resolve: (words: string[]) => void; reject: (error: Error) => void }

export class Driver {
  /** What a group told since the member joined, or a consume since it began. */
  records: Told[] = []
  /** What the member has, undefined before its first assignment. */
  assigned: number[] | undefined
  readonly #child: ChildProcess
  readonly #exited: Promise<string>
  #waiting: Settle | undefined
  #noise = ''

  constructor({ command, args, env }: Command, bootstrap: string) {
    const child = spawn(command, [...args, bootstrap], {
      env: { ...process.env, ...env },
      detached: true,
    })
    running.add(child)
    this.#child = child
    child.stdin.on('error', () => {})
    child.stderr.on('data', (bytes: Buffer) => this.#keep(bytes.toString()))
    createInterface({ input: child.stdout }).on('line', (line) => this.#take(line))
    this.#exited = new Promise((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('close', (code, signal) => resolve(String(code ?? signal)))
    })
    void this.#exited.then((how) => {
      running.delete(child)
      this.#waiting?.reject(new Error(`the driver ended: ${how}`))
    })
  }

  /** The last of what it wrote beside its answers. */
  get noise(): string {
    return this.#noise
  }

  #keep(text: string): void {
    this.#noise = (this.#noise + text).slice(-4000)
  }

  #take(line: string): void {
    const [word, ...rest] = line.split(' ')
    if (word === 'record') {
      const [partition, offset, key = '', ...value] = rest
      const told = { partition: Number(partition), offset: Number(offset), key }
      this.records.push({ ...told, value: value.join(' ') })
    } else if (word === 'assigned') {
      this.assigned = rest.filter((each) => each !== '').map(Number)
    } else if (word === 'ok') {
      this.#waiting?.resolve(rest)
    } else if (word === 'failed') {
      this.#waiting?.reject(new Error(rest.join(' ')))
    } else {
      this.#keep(`${line}\n`)
    }
  }

  /** One command; rejects where the driver fails, ends, or is silent for too long. */
  async ask(line: string, timeoutMs = 60_000): Promise<string[]> {
    const done = new Promise<string[]>((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
    const late = () => this.#waiting?.reject(new Error(`no answer within ${timeoutMs} ms`))
    const timer = setTimeout(late, timeoutMs)
    if (this.#child.exitCode !== null) this.#waiting?.reject(new Error('the driver has ended'))
    this.#child.stdin?.write(`${line}\n`)
    try {
      return await done
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error)
      throw new Error(`${line}: ${text}`)
    } finally {
      clearTimeout(timer)
      this.#waiting = undefined
    }
  }

  /** Ends it as a crash does. */
  async kill(): Promise<void> {
    killGroup(this.#child)
    await this.#exited
  }

  /** Ends it in good order, which must succeed. */
  async quit(timeoutMs = 20_000): Promise<void> {
    this.#child.stdin?.end()
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<string>((resolve) => {
      timer = setTimeout(() => resolve(`is still there after ${timeoutMs} ms`), timeoutMs)
    })
    const how = await Promise.race([this.#exited, late])
    clearTimeout(timer)
    if (how !== '0') throw new Error(`the driver ends badly: ${how}`)
  }
}
