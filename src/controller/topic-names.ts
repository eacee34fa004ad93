/** What a topic may be called: pure. (org.apache.kafka.common.internals.Topic.) */

const LEGAL = /^[a-zA-Z0-9._-]+$/
const MAX_LENGTH = 249

/** Why a name cannot be a topic's, or undefined where it can. */
export function topicNameFault(name: string): string | undefined {
  if (name === '') return 'Topic name is empty.'
  if (name === '.' || name === '..') return `Topic name cannot be "${name}".`
  if (name.length > MAX_LENGTH) return `Topic name is longer than ${MAX_LENGTH} characters.`
  if (!LEGAL.test(name))
    return 'Topic name has characters other than a-z, A-Z, 0-9, ".", "_" and "-".'
  return undefined
}

/** A topic whose name differs only by `.` against `_`: both would give the same metric names. */
export function collidingTopic(name: string, existing: Iterable<string>): string | undefined {
  const folded = name.replaceAll('.', '_')
  for (const other of existing) {
    if (other !== name && other.replaceAll('.', '_') === folded) return other
  }
  return undefined
}
