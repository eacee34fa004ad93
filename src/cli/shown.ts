/**
 * Bytes of users as the command line prints them: as text where they are UTF-8 without control
 * characters, so that a record cannot steer a terminal; else as base64, marked as such.
 */
import { isUtf8 } from 'node:buffer'

interface Shown {
  text: string
  encoding: 'utf8' | 'base64'
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/

function shown(bytes: Uint8Array): Shown {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
  if (isUtf8(buffer)) {
    const text = buffer.toString('utf8')
    if (!controlCharacters.test(text)) return { text, encoding: 'utf8' }
  }
  return { text: buffer.toString('base64'), encoding: 'base64' }
}

export function inText(bytes: Uint8Array): string {
  const { text, encoding } = shown(bytes)
  return encoding === 'utf8' ? text : `base64:${text}`
}

/** A field of a record for JSON: `<name>` and, where it is not text, `<name>Encoding`. */
export function jsonField(name: string, bytes: Uint8Array | null): Record<string, unknown> {
  if (bytes === null) return { [name]: null }
  const { text, encoding } = shown(bytes)
  return encoding === 'utf8' ? { [name]: text } : { [name]: text, [`${name}Encoding`]: encoding }
}
