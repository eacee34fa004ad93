/**
 * Makes docs/protocol.md from the registry of handlers, so that the page cannot say anything else.
 * A test compares the two; the page itself says how it is made anew.
 */
import type { Handler } from './handler.js'

/** What Kafka's clients and tools ask for and this broker does not serve, with the reason. */
const LEFT_OUT: readonly (readonly [api: string, reason: string])[] = [
  ['Produce 0 to 2, Fetch 0 to 3', 'message sets of magic 0 and 1 are not converted yet'],
  ['OffsetCommit and OffsetFetch 10', 'topics by id'],
  ['Transactions (24 to 28, 65, 66)', 'not served; a transactional id is refused at once'],
  ['DeleteRecords, CreatePartitions, AlterConfigs, IncrementalAlterConfigs', 'not yet'],
  ['DescribeLogDirs, AlterPartitionReassignments, quotas', 'not yet'],
  ['ACLs, SASL, delegation tokens', 'listeners are PLAINTEXT'],
  ['Traffic between brokers', 'there is one broker'],
]

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
    'Produce is advertised from version 0 because librdkafka concludes from it what it may',
    'compress with; a message set of magic 0 or 1 in it is answered with',
    'UNSUPPORTED_FOR_MESSAGE_FORMAT. Fetch answers every request in full, with session id 0',
    '(KIP-227). A key or version that is not here closes the connection, except that ApiVersions',
    'answers a version it does not know in the form of version 0 (KIP-511).',
    '',
    '## Left out',
    '',
    '| what | why |',
    '|---|---|',
    ...LEFT_OUT.map(([api, reason]) => `| ${api} | ${reason} |`),
    '',
  ].join('\n')
}
