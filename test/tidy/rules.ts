/**
 * The rules of the house as functions from one file to complaints, each of which names the line.
 * There are no exemptions: who needs one changes the rule here for everyone.
 */
import { join } from 'node:path/posix'
import { functionsOf, importsOf, type Language, mask } from './scanner.js'

export interface Source {
  /** From the root of the checkout, with slashes. */
  path: string
  text: string
}

export type Rule = (source: Source) => string[]

export const limits = { fileLines: 400, functionLines: 60, lineChars: 100 }

export const languageOf = (path: string): Language => (/\.(?:cc|h)$/.test(path) ? 'cpp' : 'ts')

const lineAt = (text: string, at: number) => text.slice(0, at).split('\n').length

export const size: Rule = ({ path, text }) => {
  const lines = text.replace(/\n$/, '').split('\n')
  const complaints: string[] = []
  if (lines.length > limits.fileLines) {
    complaints.push(`${path} has ${lines.length} lines; something in it wants a name of its own`)
  }
  for (const [index, line] of lines.entries()) {
    const { length } = [...line]
    if (length > limits.lineChars) complaints.push(`${path}:${index + 1} has ${length} characters`)
  }
  return complaints
}

export const functionSize: Rule = ({ path, text }) => {
  const language = languageOf(path)
  return functionsOf(mask(text, language), language)
    .map(({ first, last }) => ({ first, lines: last - first + 1 }))
    .filter(({ lines }) => lines > limits.functionLines)
    .map(({ first, lines }) => `${path}:${first} is a function of ${lines} lines`)
}

/** Units of src/ by height. One may import from what is lower, and from itself. */
const heights = new Map<string, number>([
  ['errors', 0],
  ['native', 1],
  ...['env', 'config', 'properties', 'logger', 'atomic-file', 'offsets', 'arguments'].map(
    (unit) => [unit, 2] as const,
  ),
  ...['protocol', 'apis', 'records', 'coordination'].map((unit) => [unit, 2] as const),
  ['storage', 3],
  ['replication', 4],
  ['coordinator', 5],
  ['controller', 5],
  ['handlers', 6],
  ['server', 7],
  ['broker', 8],
  ['client', 3],
  ['library', 4],
  ['open-log', 8],
  ['index', 9],
  ['cli', 9],
])
const leaf = 2

/**
 * `src/storage/log.ts` belongs to storage, and so do files beside it that it names: config-keys to
 * config.
 */
function unitOf(path: string): string | undefined {
  const [, name = ''] = /^src\/([^/.]+)/.exec(path) ?? []
  if (heights.has(name)) return name
  const family = name.split('-')[0] ?? ''
  return heights.has(family) ? family : undefined
}

function mayImport(from: string, to: string): boolean {
  const [upper = 0, lower = 0] = [heights.get(from), heights.get(to)]
  if (from === to || (upper === leaf && lower === leaf)) return true
  // Clients are a world of their own beside the broker: they share nothing but the leaves.
  if (from === 'client') return lower <= leaf
  if (to === 'client') return from === 'cli' || from === 'index'
  return lower < upper
}

export const layers: Rule = ({ path, text }) => {
  const from = unitOf(path)
  if (from === undefined) return [`${path} has no place among the layers`]
  return importsOf(text, mask(text, 'ts'))
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => join(path, '..', specifier))
    .filter((target) => target.startsWith('src/'))
    .flatMap((target) => {
      const to = unitOf(target)
      return to !== undefined && mayImport(from, to)
        ? []
        : [`${path} imports ${target}: not below it`]
    })
}

const forbiddenCalls = [
  /\bDate\.now\b/g,
  /\bnew Date\(\s*\)/g,
  /\bperformance\s*\.\s*\w+/g,
  /\bprocess\.(?:hrtime|uptime)\b/g,
  /\b(?:set|clear)(?:Timeout|Interval|Immediate)\b/g,
  /\bAbortSignal\.timeout\b/g,
  /\bMath\.random\b/g,
  /\bcrypto\.(?:random|getRandom)\w*/g,
]

const forbiddenModules =
  /^(?:node:)?(?:net|tls|http|https|http2|dgram|dns|timers|perf_hooks)(?:\/|$)/

/**
 * Clock, timers, randomness and sockets come from src/env.ts. Their types may be named anywhere.
 */
export const environment: Rule = ({ path, text }) => {
  if (path === 'src/env.ts') return []
  const code = mask(text, 'ts')
  const calls = forbiddenCalls.flatMap((pattern) =>
    [...code.matchAll(pattern)].map(
      (match) => `${path}:${lineAt(code, match.index)} uses ${match[0]}`,
    ),
  )
  const modules = importsOf(text, code)
    .filter(({ typeOnly }) => !typeOnly)
    .filter(
      ({ specifier, clause }) =>
        forbiddenModules.test(specifier) ||
        (/^(?:node:)?crypto$/.test(specifier) && /random|getRandom|webcrypto|\*/i.test(clause)),
    )
    .map(({ specifier, clause }) => `${path} imports ${clause} from ${specifier}`)
  return [...calls, ...modules]
}

/** A file begins with what it is for, in a block comment or in line comments. */
export const contract: Rule = ({ path, text }) => {
  const [comment = ''] = /^(?:#![^\n]*\n)?(?:\/\*\*[\s\S]*?\*\/|(?:\/\/[^\n]*\n)+)/.exec(text) ?? []
  const words = comment.replace(/^#!.*/, '').match(/[\p{L}\d]+/gu)?.length ?? 0
  const lines = comment.split('\n').length
  if (words < 5) return [`${path} does not begin with its contract`]
  return lines > 20 ? [`${path} begins with ${lines} lines of contract: too many to be read`] : []
}

/** Errors of src/ have a code, and their texts are one line without a full stop. */
export const errors: Rule = ({ path, text }) => {
  const code = mask(text, 'ts')
  const plain = [...code.matchAll(/\bnew (?:Type|Range|Syntax)?Error\(/g)].map(
    (match) => `${path}:${lineAt(code, match.index)} makes an error that has no code`,
  )
  const texts = text.matchAll(/new SeglogError\(\s*'\w+',\s*(['"`])((?:\\.|(?!\1)[^\\])*)\1/g)
  const bad = [...texts]
    .filter(([, , message = '']) => message === '' || /\\n|\n|[.!]$/.test(message))
    .map((match) => `${path}:${lineAt(text, match.index)} has an error text of poor form`)
  return [...plain, ...bad]
}

// Put together from pieces, lest this file complain about itself.
const places = ['work', 'root', 'tmp/wt'].map((folder) => `/${folder}`)
const hosts = ['registry.npmjs', 'repo.maven', 'repo1.maven', 'deb.debian'].map((h) => `${h}.`)
const foreign = new RegExp(
  `(?<![\\w.)}\\]*/-])(?:${places.join('|')})(?![\\w-])|${hosts.join('|').replaceAll('.', '\\.')}`,
  'g',
)

/**
 * The project runs anywhere, so it names no folder and no mirror of the machine on which it was
 * written.
 */
export const anywhere: Rule = ({ path, text }) =>
  [...text.matchAll(foreign)].map(
    (match) => `${path}:${lineAt(text, match.index)} names ${match[0]}`,
  )

const screaming = (name: string) => name.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase()

/**
 * The native result codes by their names in JavaScript, as native/status.h and as src/native.ts has
 * them.
 */
export function statusesOf(
  header: string,
  module: string,
): [Map<string, number>, Map<string, number>] {
  const native = header.matchAll(/^ *k(\w+) = (-?\d+),/gm)
  const table = /export const Status = \{([^}]*)\}/.exec(module)?.[1] ?? ''
  const listed = table.matchAll(/^ *(\w+): (-?\d+),/gm)
  return [
    new Map([...native].map(([, name = '', value]) => [screaming(name), Number(value)])),
    new Map([...listed].map(([, name = '', value]) => [name, Number(value)])),
  ]
}
