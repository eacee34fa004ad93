/**
 * Many calls of Apache Kafka's command line tools in one virtual machine, by KafkaTools.java: one
 * after the other, each with its own arguments, input, output and exit code. A tool that does not
 * end in time, ends otherwise than expected, or ends well and yet complains is an error that shows
 * all it said.
 */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type Running, type RunOptions, root, start, until, within } from './harness.js'
import type { KafkaVersion } from './prepare.js'
import { javaArguments } from './strangers.js'

export interface ToolOutput {
  code: number
  text: string
  /** The lines of `text` that are not empty, without white space at their ends. */
  lines: string[]
  errors: string
}

export interface ToolOptions extends RunOptions {
  /** Whether a tool that ends well may complain. */
  complains?: boolean
}

const source = join(root, 'test', 'compat', 'KafkaTools.java')
const TOOL_MS = 60_000
const HEAD_BYTES = 12
const complaint = /error|exception|warn|fail/i

/** The packages that the tools lie in, by version. */
const packages = new Map<string, string>([
  ['3.6.2', 'kafka.admin'],
  ['4.3.1 ConfigCommand', 'kafka.admin'],
  ['4.3.1 ConsumerGroupCommand', 'org.apache.kafka.tools.consumer.group'],
  ['4.3.1 ConsoleConsumer', 'org.apache.kafka.tools.consumer'],
  ['4.3.1', 'org.apache.kafka.tools'],
])

/** The name of a tool with its package. */
export function toolClass(tool: string, version: KafkaVersion = '4.3.1'): string {
  return `${packages.get(`${version} ${tool}`) ?? packages.get(version)}.${tool}`
}

const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}
const counted = (bytes: Buffer) => Buffer.concat([int32(bytes.length), bytes])

function outputOf(bytes: Buffer): { output: ToolOutput; sizeBytes: number } | undefined {
  if (bytes.length < HEAD_BYTES) return undefined
  const errorsAt = 8 + bytes.readInt32BE(4)
  if (bytes.length < errorsAt + 4) return undefined
  const sizeBytes = errorsAt + 4 + bytes.readInt32BE(errorsAt)
  if (bytes.length < sizeBytes) return undefined
  const text = bytes.toString('utf8', 8, errorsAt)
  const lines = text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const errors = bytes.toString('utf8', errorsAt + 4, sizeBytes)
  return { output: { code: bytes.readInt32BE(0), text, lines, errors }, sizeBytes }
}

export class KafkaJvm {
  readonly #running: Running
  readonly #bootstrap: string
  #takenBytes = 0

  /** The tools of a version, for the broker at an address. */
  constructor(
    readonly version: KafkaVersion,
    bootstrap: string,
  ) {
    this.#bootstrap = bootstrap
    // What is given as a source file is compiled on the way.
    this.#running = start('java', javaArguments(source, [], version))
  }

  /** Runs a tool, such as TopicCommand, on the broker. */
  run(tool: string, args: string, options: ToolOptions = {}): Promise<ToolOutput> {
    const words = args.split(' ').filter((word) => word !== '')
    return this.#call(tool, ['--bootstrap-server', this.#bootstrap, ...words], options)
  }

  async #call(
    tool: string,
    args: readonly string[],
    { input = '', timeoutMs = TOOL_MS, expect = 0, complains = expect !== 0 }: ToolOptions,
  ): Promise<ToolOutput> {
    const what = `${tool} ${args.join(' ')}`
    const words = [toolClass(tool, this.version), ...args].map((word) => counted(Buffer.from(word)))
    const call = [int32(words.length), ...words, counted(Buffer.from(input))]
    this.#running.child.stdin?.write(Buffer.concat(call))
    const output = await this.#answer(what, timeoutMs)
    const told = `${what} ended with ${output.code}:\n${output.text}${output.errors}`
    if (expect !== 'any') assert.equal(output.code, expect, told)
    if (!complains) assert.doesNotMatch(output.errors, complaint, told)
    return output
  }

  async #answer(what: string, timeoutMs: number): Promise<ToolOutput> {
    const found = () => outputOf(this.#running.stdout().subarray(this.#takenBytes))
    const { child } = this.#running
    const ended = () => child.exitCode !== null || child.signalCode !== null
    await until(`answer of ${what}`, () => found() !== undefined || ended(), timeoutMs)
    const answer = found()
    if (answer === undefined) throw new Error(`the tools ended: ${this.#running.stderr()}`)
    this.#takenBytes += answer.sizeBytes
    return answer.output
  }

  async close(): Promise<void> {
    this.#running.child.stdin?.end()
    await within(this.#running, TOOL_MS)
  }
}

/** Tables as the tools print them: a row is its words. */
export function rowsOf({ lines }: ToolOutput): string[][] {
  return lines.map((line) => line.split(/\s+/))
}
