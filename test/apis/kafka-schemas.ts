/**
 * Kafka's own message schemas, where they lie beside the checkout: one JSON file a message with
 * comments, one folder a release. Describes a message of one version line by line, from a schema
 * and from a table alike, so that the two can be compared.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Message } from '../../src/protocol/schema.js'
import { type Type, ZERO_UUID } from '../../src/protocol/types.js'
import { fieldsOf } from './values.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const folder = resolve(root, '../shared/kafka-messages')
const RELEASES = ['3.6.2', '4.3.1']

interface SchemaField {
  name: string
  type: string
  versions: string
  nullableVersions?: string
  taggedVersions?: string
  tag?: number
  default?: string | number | boolean
  fields?: SchemaField[]
}

export interface Schema {
  release: string
  apiKey: number
  name: string
  validVersions: string
  flexibleVersions: string
  fields: SchemaField[]
  commonStructs?: { name: string; fields: SchemaField[] }[]
}

/**
 * The schemas of a message, such as 'FetchRequest', the older release first; empty where there are
 * none.
 */
export function schemasOf(name: string): Schema[] {
  const schemas: Schema[] = []
  for (const release of RELEASES) {
    const path = join(folder, release, `${name}.json`)
    if (!existsSync(path)) continue
    const text = readFileSync(path, 'utf8').replace(/\/\/.*$/gm, '')
    schemas.push({ ...(JSON.parse(text) as Schema), release })
  }
  return schemas
}

/** First and last version of a range such as '3', '0-12', '4+' or 'none'. */
export function rangeOf(text: string | undefined): [number, number] {
  const found = /^(\d+)(\+|-(\d+))?$/.exec(text ?? 'none')
  if (found === null) return [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const from = Number(found[1])
  if (found[2] === undefined) return [from, from]
  return [from, found[3] === undefined ? Number.POSITIVE_INFINITY : Number(found[3])]
}

export function holds(text: string | undefined, version: number): boolean {
  const [from, to] = rangeOf(text)
  return version >= from && version <= to
}

/** One line a field of the version: path, type, nullable, tag and default. */
export function describeSchema(schema: Schema, version: number): string[] {
  const structs = new Map(schema.commonStructs?.map(({ name, fields }) => [name, fields]))
  const lines: string[] = []
  const walk = (fields: SchemaField[], path: string) => {
    for (const field of fields) {
      if (!holds(field.versions, version)) continue
      const name = `${path}${field.name[0]!.toLowerCase()}${field.name.slice(1)}`
      const item = field.type.replace('[]', '')
      const inner = field.fields ?? structs.get(item)
      const type = `${field.type.startsWith('[]') ? '[]' : ''}${inner ? 'struct' : item}`
      const nullable = holds(field.nullableVersions, version)
      const tag = holds(field.taggedVersions, version) ? field.tag : undefined
      lines.push(line(name, type, nullable, tag, defaultOf(type, field)))
      if (inner) walk(inner, `${name}.`)
    }
  }
  walk(schema.fields, '')
  return lines
}

/** The same lines for a table. */
export function describeTable(message: Message<unknown, unknown>, version: number): string[] {
  const lines: string[] = []
  const walk = (struct: Type<unknown, unknown>, path: string) => {
    for (const [fieldName, field] of fieldsOf(struct, version)) {
      const { type, tag, fallback } = field
      const name = `${path}${fieldName}`
      const text = type.item ? `[]${type.item.kind}` : type.kind
      lines.push(line(name, text, version >= type.nullableFrom, tag, shown(fallback)))
      if (type.fields) walk(type, `${name}.`)
      if (type.item?.fields) walk(type.item, `${name}.`)
    }
  }
  walk(message.type, '')
  return lines
}

function line(
  name: string,
  type: string,
  nullable: boolean,
  tag: number | undefined,
  value: string,
) {
  const or = nullable ? ' or null' : ''
  const tagged = tag === undefined ? '' : `, tag ${tag}`
  return `${name}: ${type}${or}${tagged} = ${value}`
}

function shown(value: unknown): string {
  if (Array.isArray(value) && value.length === 0) return 'empty'
  if (value instanceof Uint8Array && value.length === 0) return 'empty'
  return typeof value === 'object' && value !== null ? 'defaults' : JSON.stringify(value)
}

function defaultOf(type: string, field: SchemaField): string {
  const given = field.default === undefined ? undefined : String(field.default)
  if (given === 'null' || type === 'records') return 'null'
  if (type === 'struct') return 'defaults'
  if (type.startsWith('[]') || type === 'bytes') return 'empty'
  if (type === 'uuid') return JSON.stringify(ZERO_UUID)
  if (type === 'string') return JSON.stringify(given ?? '')
  if (type === 'bool') return given ?? 'false'
  return String(Math.min(Number(given ?? 0), Number.MAX_SAFE_INTEGER))
}
