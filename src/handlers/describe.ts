/**
 * Makes docs/protocol.md from the registry of handlers, so that the page cannot say anything else.
 * A test compares the two; the page itself says how it is made anew.
 */
import { DIFFERENCES, LEFT_OUT } from './differences.js'
import type { Handler } from './handler.js'

/** The page as Markdown. */
export function describe(handlers: Iterable<Handler>): string {
  const rows = [...handlers]
    .sort((a, b) => a.api.key - b.api.key)
    .map(
      ({ api: { key, name }, versions: [min, max] }) => `| ${key} | ${name} | ${min} to ${max} |`,
    )
  return [
    '# Protocol',
    '',
    'The broker speaks the protocol of Apache Kafka. This is what it advertises in ApiVersions.',
    'The page is made from the registry of handlers by `describe` of `src/handlers/describe.ts`:',
    '',
    '```',
    'node --input-type=module > docs/protocol.md --eval \\',
    "  \"const { describe } = await import('./dist/src/handlers/describe.js');\\",
    "   const { handlers } = await import('./dist/src/handlers/registry.js');\\",
    '   process.stdout.write(describe(handlers.values()))"',
    '```',
    '',
    '| key | API | versions |',
    '|---|---|---|',
    ...rows,
    '',
    'Messages of magic 0 and 1, which Produce 0 to 2 carry and Fetch 0 to 3 expect, are converted',
    'to batches and back. Fetch keeps sessions (KIP-227). A key or version that is not here closes',
    'the connection, except that ApiVersions answers a version it does not know in the form of',
    'version 0 (KIP-511).',
    '',
    '## Left out',
    '',
    '| what | why |',
    '|---|---|',
    ...table(LEFT_OUT),
    '',
    '## Other answers than those of Kafka 4.3.1',
    '',
    'The same requests were sent to both, each field of each version changed one at a time. These',
    'differences are meant:',
    '',
    '| what | why |',
    '|---|---|',
    ...table(DIFFERENCES),
    '',
  ].join('\n')
}

function table(rows: readonly (readonly [string, string])[]): string[] {
  return rows.map(([what, why]) => `| ${what} | ${why} |`)
}
