/**
 * The foreign programs as verbs: kcat (librdkafka) and the tools of Apache Kafka. Each call is
 * bounded in time and rejects when the program reports a failure; what they print is left to the
 * test.
 */
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { type KafkaVersion, kafkaJarsOf } from './prepare.js'
import { type Finished, type RunOptions, run } from './programs.js'

/** Every codec that Kafka's record batches know, by the names that kcat and Kafka's tools take. */
export const codecs = ['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const

export function sha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

export function kcat(
  bootstrap: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<Finished> {
  return run('kcat', ['-b', bootstrap, ...args], options)
}

/** Sends a file, each line a record, and waits until every one is acknowledged. */
export function produceFile(
  bootstrap: string,
  topic: string,
  file: string,
  args: readonly string[] = [],
): Promise<Finished> {
  return kcat(bootstrap, ['-P', '-t', topic, ...args, '-l', file])
}

/** Reads a topic from its start, or as `args` say, to its present end, checking every CRC. */
export async function consumeAll(
  bootstrap: string,
  topic: string,
  args: readonly string[] = [],
): Promise<Buffer> {
  const all = ['-C', '-t', topic, '-e', '-q', '-X', 'check.crcs=true', ...args]
  return (await kcat(bootstrap, all)).stdout
}

/** The values of a topic of which no value holds a newline. */
export async function consumeLines(bootstrap: string, topic: string): Promise<string[]> {
  const text = (await consumeAll(bootstrap, topic)).toString()
  return text.split('\n').slice(0, -1)
}

/** A command of Java. A small heap and one compiler make it start quickly. */
export function javaArguments(
  className: string,
  args: readonly string[],
  version: KafkaVersion = '4.3.1',
): string[] {
  const java = ['-Xmx256m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto']
  const quiet = '-Dorg.slf4j.simpleLogger.defaultLogLevel=error'
  const unregistered = '-Dzookeeper.jmx.log4j.disable=true'
  const path = join(kafkaJarsOf(version), '*')
  return [...java, quiet, unregistered, '-cp', path, className, ...args]
}

/** Runs one of Apache Kafka's own programs. */
export function kafkaTool(
  className: string,
  args: readonly string[],
  { version, ...options }: RunOptions & { version?: KafkaVersion } = {},
): Promise<Finished> {
  return run('java', javaArguments(className, args, version), { timeoutMs: 90_000, ...options })
}
