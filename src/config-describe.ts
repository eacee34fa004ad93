/**
 * Makes docs/configuration.md from the table of keys, so that the page cannot say anything else.
 * A test compares the two; the page itself says how it is made anew. A leaf; touches no file.
 */
import { isDynamic } from './config-dynamic.js'
import { brokerKeys, topicKeys } from './config-keys.js'
import { foreignParts } from './config-keys-foreign.js'
import { topicOnlyKeys } from './config-topic-keys.js'
import type { Key } from './config-types.js'

const effects = { yes: '', 'not yet': ' *No effect yet.*', none: ' *No effect here.*' }

const dynamic = Object.keys(brokerKeys).filter(isDynamic)

/** The page as Markdown. */
export function describe(): string {
  return [
    '# Configuration',
    '',
    'The keys are those of Apache Kafka. They stand in `server.properties`, in',
    '`--override key=value` and in the `config` of `Broker.start`. A value outside its range',
    'is refused; an unknown key is named in a warning and ignored. This page is made from the',
    'table in `src/config-keys.ts` by `describe` of `src/config-describe.ts`:',
    '',
    '```',
    'node --input-type=module > docs/configuration.md --eval \\',
    '  "process.stdout.write((await import(\'./dist/src/config-describe.js\')).describe())"',
    '```',
    '',
    '## Broker',
    '',
    '| key | type | default | allowed | |',
    '|---|---|---|---|---|',
    ...Object.entries<Key<unknown>>(brokerKeys).map(([name, key]) => brokerRow(name, key)),
    '',
    'While the broker runs, IncrementalAlterConfigs changes these, for this broker or for all of',
    'them; the changes outlast a restart:',
    '',
    ...dynamic.map((name) => `- \`${name}\``),
    '',
    '## Topic',
    '',
    'A topic has these keys. Without a value of its own it takes that of the broker.',
    '',
    '| key | type | default of the broker | allowed |',
    '|---|---|---|---|',
    ...Object.entries(topicKeys).map(([name, brokerKey]) => {
      const { type, range } = brokerKeys[brokerKey]
      return row(`\`${name}\``, type, `\`${brokerKey}\``, range)
    }),
    '',
    'These are checked and kept, and have no effect here:',
    '',
    '| key | type | default | allowed |',
    '|---|---|---|---|',
    ...Object.entries<Key<unknown>>(topicOnlyKeys).map(([name, { type, range, defaultText }]) => {
      return row(`\`${name}\``, type, defaultText === '' ? 'empty' : `\`${defaultText}\``, range)
    }),
    '',
    '## Without a meaning here',
    '',
    'A broker takes these keys of Kafka too and describes them, as tools ask for all. They belong',
    'to parts that there are none of here: a value is checked, and changes nothing.',
    ...foreignParts.flatMap(([part, keys]) => foreignTable(part, keys)),
    '',
  ].join('\n')
}

function foreignTable(part: string, keys: Readonly<Record<string, Key<unknown>>>): string[] {
  const rows = Object.entries(keys).sort(([a], [b]) => (a < b ? -1 : 1))
  return [
    '',
    `### ${part}`,
    '',
    '| key | type | default | allowed | |',
    '|---|---|---|---|---|',
    ...rows.map(([name, { type, isUnset, defaultText, range, text }]) => {
      const shown = isUnset ? 'none' : defaultText === '' ? 'empty' : `\`${defaultText}\``
      return row(`\`${name}\``, type, shown, range, text)
    }),
  ]
}

function brokerRow(name: string, key: Key<unknown>): string {
  const aliases = key.aliases.map((alias) => `\`${alias.name}\``)
  const also = aliases.length === 0 ? '' : ` Also: ${aliases.join(', ')}.`
  const shown = key.defaultText === '' ? 'empty' : `\`${key.defaultText}\``
  return row(`\`${name}\``, key.type, shown, key.range, key.text + effects[key.effect] + also)
}

const row = (...cells: string[]) => `| ${cells.join(' | ')} |`
