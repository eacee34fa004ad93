/**
 * Text in the syntax of java.util.Properties, which server.properties and meta.properties are
 * written in: a line `key=value`, `key: value` or `key value`; comments begin with # or !; a line
 * that ends in an odd number of backslashes goes on in the next one; \t \n \f \r and \uXXXX are
 * escapes, a backslash before any other character is dropped. Keys keep the order of the text, the
 * last value of a key holds. A leaf; touches no file.
 */
import { SeglogError } from './errors.js'

const escapes: Record<string, string> = { t: '\t', n: '\n', f: '\f', r: '\r' }

/**
 * Reads `text`. `name` is what an error calls it.
 * Errors: CORRUPT where \u is not followed by four hexadecimal digits.
 */
export function parseProperties(text: string, name: string): Map<string, string> {
  const properties = new Map<string, string>()
  for (const line of logicalLines(text)) {
    const end = keyEnd(line)
    const key = unescaped(line.slice(0, end), name)
    const value = line.slice(end).replace(/^[ \t\f]*(?:[=:][ \t\f]*)?/, '')
    properties.set(key, unescaped(value, name))
  }
  return properties
}

/**
 * Lines `key=value` in the order given, escaped so that `parseProperties` and Java read back the
 * same.
 */
export function formatProperties(properties: Iterable<readonly [string, string]>): string {
  let text = ''
  for (const [key, value] of properties) text += `${escapeKey(key)}=${escapeValue(value)}\n`
  return text
}

/** Joins continued lines and leaves out comments and blank ones. A comment cannot be continued. */
function* logicalLines(text: string): Generator<string> {
  let joined: string | undefined
  for (const physical of text.split(/\r\n|\r|\n/)) {
    const line = physical.replace(/^[ \t\f]+/, '')
    if (joined === undefined && (line === '' || line.startsWith('#') || line.startsWith('!'))) {
      continue
    }
    const whole: string = (joined ?? '') + line
    if (endsInBackslash(line)) {
      joined = whole.slice(0, -1)
    } else {
      joined = undefined
      if (whole !== '') yield whole
    }
  }
  if (joined) yield joined
}

function endsInBackslash(line: string): boolean {
  let count = 0
  while (line[line.length - 1 - count] === '\\') count++
  return count % 2 === 1
}

/** The index behind the key: the first separator that no backslash guards. */
function keyEnd(line: string): number {
  let index = 0
  while (index < line.length && !/[=: \t\f]/.test(line.charAt(index))) {
    index += line[index] === '\\' ? 2 : 1
  }
  return Math.min(index, line.length)
}

function unescaped(text: string, name: string): string {
  return text.replace(/\\(u[0-9a-fA-F]{4}|[\s\S]|$)/g, (_, what: string) => {
    if (what.length === 5) return String.fromCharCode(Number.parseInt(what.slice(1), 16))
    if (what === 'u') {
      throw new SeglogError('CORRUPT', `${name}: \\u is not followed by four hex digits`)
    }
    return escapes[what] ?? what
  })
}

const escapeControls = (text: string) =>
  text.replace(/[\\\t\n\f\r]|[^ -~]/g, (char) => {
    const letter = { '\\': '\\', '\t': 't', '\n': 'n', '\f': 'f', '\r': 'r' }[char]
    return `\\${letter ?? `u${char.charCodeAt(0).toString(16).padStart(4, '0')}`}`
  })

const escapeKey = (key: string) => escapeControls(key).replace(/[=:#! ]/g, '\\$&')

const escapeValue = (value: string) => escapeControls(value).replace(/^ /, '\\ ')
