/** The half of a driver that all clients of Node.js share: see the contract in ../driver.ts. */
import { createInterface } from 'node:readline'
import { keyOf, partitionCount, textOf } from '../driver.js'

export interface Entry {
  key: string
  value: string
  partition: number
}

export interface ForeignClient {
  create(topic: string, partitions: number): Promise<unknown>
  topics(): Promise<readonly string[]>
  produce(topic: string, codec: string, records: Entry[]): Promise<unknown>
  /** Resolves when every record up to the present end was told. */
  consume(topic: string, partitions: number): Promise<unknown>
  join?(group: string, topic: string, assignor: string): Promise<unknown>
  commit?(): Promise<unknown>
  store?(group: string, topic: string, offsets: number[]): Promise<unknown>
  committed?(group: string, topic: string, partitions: number): Promise<readonly number[]>
  leave?(): Promise<unknown>
  delete?(topic: string): Promise<unknown>
  close(): Promise<unknown>
}

type Bytes = Buffer | string | null | undefined

export function tell(
  partition: number,
  offset: number | bigint | string,
  key: Bytes,
  value: Bytes,
) {
  console.log(`record ${partition} ${offset} ${key?.toString()} ${value?.toString()}`)
}

export function tellAssigned(partitions: readonly number[]): void {
  console.log(`assigned ${partitions.join(' ')}`)
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

function entries(codec: string, first: number, count: number): Entry[] {
  return Array.from({ length: count }, (_, index) => ({
    key: keyOf(first + index),
    value: textOf(codec, first + index),
    partition: (first + index) % partitionCount,
  }))
}

async function answer(client: ForeignClient, line: string): Promise<readonly unknown[]> {
  const [command, a = '', b = '', c = '', d = ''] = line.split(' ')
  const missing = () => Promise.reject(new Error('the client has no such call'))
  const commands: Record<string, () => Promise<unknown> | undefined> = {
    create: () => client.create(a, Number(b)),
    topics: () => client.topics(),
    produce: () => client.produce(a, b, entries(b, Number(c), Number(d))),
    consume: () => client.consume(a, Number(b)),
    join: () => client.join?.(a, b, c),
    commit: () => client.commit?.(),
    store: () => client.store?.(a, b, line.split(' ').slice(3).map(Number)),
    committed: () => client.committed?.(a, b, Number(c)),
    leave: () => client.leave?.(),
    delete: () => client.delete?.(a),
  }
  const result = await (commands[command ?? '']?.() ?? missing())
  return (command === 'topics' || command === 'committed') && Array.isArray(result) ? result : []
}

/** The address of the broker. */
export const bootstrap = process.argv.at(-1) ?? ''

/** Answers commands until the input ends, then closes the client and ends the process. */
export async function serve(client: ForeignClient): Promise<void> {
  for await (const line of createInterface({ input: process.stdin })) {
    try {
      console.log(['ok', ...(await answer(client, line))].join(' '))
    } catch (error) {
      const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
      console.log(`failed ${text.replaceAll('\n', ' | ')}`)
    }
  }
  await client.close()
  process.exit(0)
}

/** A package of the folder into which the client was installed. */
export async function foreign(name: string): Promise<unknown> {
  const { createRequire } = await import('node:module')
  const folder = process.env.SEGLOG_CLIENT_FOLDER ?? ''
  return createRequire(`${folder}/package.json`)(name)
}
