/**
 * Where `seglog groups reset-offsets` sets offsets to: the options that say it, and the plan that
 * they make with what the logs hold. An offset outside of its log is refused, not bent.
 */
import { quoted } from '../arguments.js'
import { committedOffsets } from '../client/admin-groups.js'
import type { Cluster } from '../client/cluster.js'
import { listOffsets, OffsetSpec } from '../client/offsets.js'
import { SeglogError } from '../errors.js'
import { offsetNumber } from '../offsets.js'
import { UsageError } from './usage.js'

export const resetOptions = {
  'to-earliest': { type: 'boolean' },
  'to-latest': { type: 'boolean' },
  'to-offset': { type: 'string' },
  'shift-by': { type: 'string' },
  'to-datetime': { type: 'string' },
} as const

export type Reset =
  | { kind: 'timestamp'; timestamp: number }
  | { kind: 'offset'; offset: number }
  | { kind: 'shift'; by: number }

export interface Planned {
  topic: string
  partition: number
  /** To be committed. */
  offset: number
  /** Committed so far. */
  before: number | null
}

type Values = { [K in keyof typeof resetOptions]?: string | boolean | undefined }

/** What the options say; undefined where none of them was given. */
export function resetOf(values: Values, usage: string): Reset | undefined {
  const given = Object.keys(resetOptions).filter(
    (name) => values[name as keyof Values] !== undefined,
  )
  const [name, ...more] = given
  if (name === undefined) return undefined
  if (more.length > 0) throw new UsageError(`--${name} and --${more[0]} exclude each other`, usage)
  const text = String(values[name as keyof Values])
  if (name === 'to-earliest') return { kind: 'timestamp', timestamp: OffsetSpec.EARLIEST }
  if (name === 'to-latest') return { kind: 'timestamp', timestamp: OffsetSpec.LATEST }
  if (name === 'to-datetime') return { kind: 'timestamp', timestamp: timeOf(text, usage) }
  if (name === 'to-offset') return { kind: 'offset', offset: parseOffset(name, text, usage) }
  const by = /^[+-]?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(by)) return { kind: 'shift', by }
  throw new UsageError(`--shift-by takes a whole number, not ${quoted(text)}`, usage)
}

/** An offset of an option, exact or refused. */
export function parseOffset(name: string, text: string, usage: string): number {
  try {
    return offsetNumber(text, `--${name}`)
  } catch (error) {
    if (error instanceof SeglogError) throw new UsageError(error.message, usage)
    throw error
  }
}

function timeOf(text: string, usage: string): number {
  const ms = /^\d{1,16}$/.test(text) ? Number(text) : isoTime(text)
  if (Number.isSafeInteger(ms) && ms >= 0) return ms
  const example = '2026-01-31T12:00:00Z'
  throw new UsageError(`--to-datetime takes a time such as ${example}, not ${quoted(text)}`, usage)
}

/** Without a zone it is UTC, so that it means the same wherever it is typed. */
function isoTime(text: string): number {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)?)?$/.test(text)) {
    return Number.NaN
  }
  return Date.parse(/T.*(Z|[+-]\d\d:\d\d)$/.test(text) || !text.includes('T') ? text : `${text}Z`)
}

interface Place {
  topic: string
  partition: number
}

export async function planReset(
  cluster: Cluster,
  group: string,
  { topics, reset, usage }: { topics: string[] | undefined; reset: Reset; usage: string },
): Promise<Planned[]> {
  const committed = await committedOffsets(cluster, group)
  const places = topics ? await placesOf(cluster, topics, usage) : committed
  if (places.length === 0) {
    throw new SeglogError('NOT_FOUND', `group ${group} has no offsets; name the topics by --topic`)
  }
  const [starts, ends] = [
    await find(cluster, places, OffsetSpec.EARLIEST),
    await find(cluster, places, OffsetSpec.LATEST),
  ]
  const timed = reset.kind === 'timestamp' ? await find(cluster, places, reset.timestamp) : []
  return places.map(({ topic, partition }, i) => {
    const before =
      committed.find((each) => each.topic === topic && each.partition === partition)?.offset ?? null
    const [start = 0, end = 0] = [starts[i], ends[i]]
    const what = `partition ${partition} of ${topic}`
    const offset = wanted(reset, { before, end, found: timed[i] ?? -1, what })
    if (offset < start || offset > end) {
      const text = `${what} holds offsets ${start} to ${end}, and ${offset} is outside of them`
      throw new SeglogError('OFFSET_OUT_OF_RANGE', text)
    }
    return { topic, partition, offset, before }
  })
}

function wanted(
  reset: Reset,
  { before, end, found, what }: { before: number | null; end: number; found: number; what: string },
): number {
  if (reset.kind === 'offset') return reset.offset
  // No record is that late: what comes next will be.
  if (reset.kind === 'timestamp') return found < 0 ? end : found
  if (before !== null) return before + reset.by
  throw new SeglogError('NOT_FOUND', `${what}: no offset is committed that could be shifted`)
}

async function find(cluster: Cluster, places: readonly Place[], timestamp: number) {
  const wishes = places.map(({ topic, partition }) => ({ topic, partition, timestamp }))
  return (await listOffsets(cluster, wishes)).map(({ offset }) => offset)
}

/** TOPIC for all of its partitions, TOPIC:0,2 for some. */
async function placesOf(cluster: Cluster, texts: string[], usage: string): Promise<Place[]> {
  const places = new Map<string, Place>()
  for (const text of texts) {
    const [, topic = '', list] = /^([^:]+)(?::(\d{1,9}(?:,\d{1,9})*))?$/.exec(text) ?? []
    if (topic === '') {
      throw new UsageError(`--topic takes TOPIC or TOPIC:0,1, not ${quoted(text)}`, usage)
    }
    const { partitions } = await cluster.topic(topic)
    const indexes = list?.split(',').map(Number) ?? partitions.map(({ index }) => index)
    for (const partition of indexes) places.set(`${topic}-${partition}`, { topic, partition })
  }
  return [...places.values()]
}
