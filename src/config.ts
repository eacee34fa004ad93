/**
 * Reads configurations of a broker and of a topic against the table in `config-keys.ts`, and
 * describes that table. Keys and values are text, as in server.properties. A value that is not
 * allowed is refused and nothing is corrected silently; a key that nobody knows is named in a
 * warning, since Kafka's files carry keys of plugins. Once read, a broker's configuration changes
 * through `BrokerConfig.change` alone, a topic's not at all. A leaf; touches no file.
 */
import { brokerKeys, type Endpoint, parseEndpoint, topicKeys } from './config-keys.js'
import { foreignKeys } from './config-keys-foreign.js'
import { clientMetricsKeys, groupKeyOf, groupOnlyKeys } from './config-keys-groups.js'
import { checkTogether, invalid } from './config-together.js'
import { topicOnlyKeys, topicOnlySynonyms } from './config-topic-keys.js'
import type { Alias, Key } from './config-types.js'
import { SeglogError } from './errors.js'

export type BrokerKey = keyof typeof brokerKeys
export type TopicKey = keyof typeof topicKeys
export type BrokerValue<K extends BrokerKey> =
  (typeof brokerKeys)[K] extends Key<infer T> ? T : never
export type TopicValue<K extends TopicKey> = BrokerValue<(typeof topicKeys)[K]>

/**
 * Where a value comes from, the nearest first: the topic, a change while the broker runs (of it
 * alone, of all brokers), what it was started with, the table.
 */
export type ConfigSource = 'topic' | 'dynamic' | 'cluster' | 'broker' | 'default'

/** One value of a key. */
export interface ConfigValue {
  name: string
  text: string
  source: ConfigSource
}

/** One key as DescribeConfigs shows it. */
export interface ConfigEntry {
  name: string
  /** Null where nothing was given and Kafka leaves it unset. */
  text: string | null
  source: ConfigSource
  /** All values that there are for it, the one that counts first. */
  synonyms: readonly ConfigValue[]
  key: Key<unknown>
}

/** Values that came while the broker ran: of this broker, and of all of them. */
export interface DynamicValues {
  dynamic: Readonly<Record<string, string>>
  cluster: Readonly<Record<string, string>>
}

interface Setting {
  text: string
  value: unknown
  given: boolean
  /** What was written under which other name. */
  alias?: { name: string; text: string }
}

/** Of a string with a length of two bytes. */
const TEXT_BYTES_MAX = 32_767

const brokerTable = new Map<string, Key<unknown>>([
  ...Object.entries(brokerKeys),
  ...Object.entries(foreignKeys),
])
const topicTable = new Map<string, BrokerKey>(Object.entries(topicKeys))
const topicOnlyTable = new Map<string, Key<unknown>>(Object.entries(topicOnlyKeys))

export class BrokerConfig {
  readonly #settings: ReadonlyMap<string, Setting>
  #changes: readonly { source: ConfigSource; settings: ReadonlyMap<string, Setting> }[] = []

  private constructor(settings: ReadonlyMap<string, Setting>) {
    this.#settings = settings
  }

  /**
   * Reads what a file and overrides gave. `warn` takes a line for each key that is unknown,
   * deprecated, given twice under different names, or without effect. Errors: INVALID_CONFIG, with
   * key, value and allowed range.
   */
  static parse(given: Readonly<Record<string, string>>, warn: (line: string) => void) {
    const unread = new Map(Object.entries(given))
    joinHostAndPort(unread, warn)
    const settings = new Map<string, Setting>()
    for (const [name, key] of brokerTable) settings.set(name, take(name, key, unread, warn))
    for (const name of unread.keys()) warn(`configuration key ${name} is not known and is ignored`)
    const config = new BrokerConfig(settings)
    checkTogether(config)
    return config
  }

  get<K extends BrokerKey>(key: K): BrokerValue<K> {
    // The table gave this value under this key.
    return this.#setting(key)?.value as BrokerValue<K>
  }

  #setting(key: string): Setting | undefined {
    for (const { settings } of this.#changes) {
      const changed = settings.get(key)
      if (changed) return changed
    }
    return this.#settings.get(key)
  }

  /**
   * Takes the place of all changes so far. REQUIRES: `isDynamic` of every key. Errors:
   * INVALID_CONFIG, and then nothing has changed.
   */
  change(values: DynamicValues): void {
    this.#changes = (['dynamic', 'cluster'] as const).map((source) => {
      const given = Object.entries(values[source])
      return { source, settings: new Map(given.map(([name, text]) => [name, parse(name, text)])) }
    })
  }

  /** Throws as `change` and changes nothing. */
  static check(values: Readonly<Record<string, string>>): void {
    for (const [name, text] of Object.entries(values)) parse(name, text)
  }

  /** The value as it was given, or the default's text. */
  text(key: BrokerKey): string {
    return this.#setting(key)?.text ?? ''
  }

  /**
   * All values of a key, the one that counts first. As in Kafka, of a key that it leaves unset the
   * values in other units follow, and none is told while none has the key's own name.
   */
  values(name: string): ConfigValue[] {
    const found: ConfigValue[] = []
    for (const { source, settings } of this.#changes) {
      const changed = settings.get(name)
      if (changed) found.push({ name, text: changed.text, source })
    }
    const key = brokerTable.get(name)
    const started = this.#settings.get(name)
    const isOwn = started?.given && (key?.isUnset !== true || started.alias === undefined)
    if (isOwn) found.push({ name, text: started.text, source: 'broker' })
    if (!key?.isUnset) return key ? [...found, defaultValue(name, key.defaultText)] : found
    return found.length === 0 ? [] : [...found, ...this.#inOtherUnits(name, key)]
  }

  #inOtherUnits(keyName: string, key: Key<unknown>): ConfigValue[] {
    const written = this.#settings.get(keyName)?.alias
    return key.aliases.flatMap(({ name, factor, defaultText }) => {
      if (factor === undefined) return []
      const given = written?.name === name ? [{ ...written, source: 'broker' as const }] : []
      return [...given, ...(defaultText == null ? [] : [defaultValue(name, defaultText)])]
    })
  }

  get listeners(): Endpoint[] {
    return endpoints(this.get('listeners'))
  }

  /**
   * What clients are told, one for each listener, in their order. Port 0 stands for the port that
   * the listener of that name got; an empty host for a name of this machine.
   */
  get advertisedListeners(): Endpoint[] {
    const advertised = endpoints(this.get('advertised.listeners'))
    return this.listeners.map(
      (listener) => advertised.find(({ name }) => name === listener.name) ?? listener,
    )
  }

  /** Every key, and every other name of one as the key that it is in Kafka. */
  entries(): ConfigEntry[] {
    return [...brokerTable].flatMap(([name, key]) => {
      const synonyms = this.values(name)
      const { text = null, source = 'default' } = synonyms[0] ?? {}
      const entry: ConfigEntry = { name, text, source, synonyms, key }
      return [entry, ...key.aliases.map((alias) => this.#aliasEntry(entry, alias))]
    })
  }

  #aliasEntry(entry: ConfigEntry, { name, factor, defaultText }: Alias): ConfigEntry {
    if (defaultText === undefined) {
      const given = entry.synonyms.filter(({ source }) => source !== 'default')
      return { ...entry, name, synonyms: given.map((value) => ({ ...value, name })) }
    }
    const written = this.#settings.get(entry.name)?.alias
    const synonyms = defaultText === null ? [] : [defaultValue(name, defaultText)]
    if (written?.name === name) synonyms.unshift({ ...written, source: 'broker' })
    const { text = null, source = 'default' } = synonyms[0] ?? {}
    const type = factor === undefined ? entry.key.type : 'int'
    return { name, text, source, synonyms, key: { ...entry.key, type } }
  }

  /** What was changed for all brokers. */
  clusterEntries(): ConfigEntry[] {
    return this.entries().flatMap((entry) => {
      const synonyms = entry.synonyms.filter(({ source }) => source === 'cluster')
      return synonyms.map(({ text, source }) => ({ ...entry, text, source, synonyms }))
    })
  }
}

/** The configuration of one topic: its own values above those of the broker. */
export class TopicConfig {
  readonly #own: ReadonlyMap<string, Setting>
  readonly #broker: BrokerConfig

  private constructor(own: ReadonlyMap<string, Setting>, broker: BrokerConfig) {
    this.#own = own
    this.#broker = broker
  }

  /** Errors: INVALID_CONFIG, also for a key that no topic has. */
  static parse(given: Readonly<Record<string, string>>, broker: BrokerConfig) {
    const own = new Map<string, Setting>()
    for (const [name, text] of Object.entries(given)) {
      const brokerKey = topicTable.get(name)
      const key = brokerKey === undefined ? topicOnlyTable.get(name) : brokerKeys[brokerKey]
      if (key === undefined) {
        throw new SeglogError('INVALID_CONFIG', `Unknown topic config name: ${name}`)
      }
      own.set(name, setting(name, key, text, true))
    }
    return new TopicConfig(own, broker)
  }

  get<K extends TopicKey>(key: K): TopicValue<K> {
    const own = this.#own.get(key)
    // The key of the broker that stands for this one in the table has the same type.
    return (own === undefined ? this.#broker.get(topicKeys[key]) : own.value) as TopicValue<K>
  }

  /** What the topic has of its own, as text. */
  own(): Record<string, string> {
    return Object.fromEntries([...this.#own].map(([name, { text }]) => [name, text]))
  }

  entries(): ConfigEntry[] {
    const inherited = [...topicTable].map(([name, brokerKey]) => {
      const values = this.#broker.values(brokerKey)
      return this.#entry(name, brokerKeys[brokerKey], values, this.#broker.text(brokerKey))
    })
    const only = [...topicOnlyTable].map(([name, key]) => {
      const synonym = topicOnlySynonyms[name]
      const text = key.defaultText
      const values =
        synonym === undefined ? [] : [{ name: synonym, text, source: 'default' as const }]
      return this.#entry(name, key, values, text)
    })
    return [...inherited, ...only]
  }

  #entry(name: string, key: Key<unknown>, inherited: ConfigValue[], text: string): ConfigEntry {
    const own = this.#own.get(name)
    if (own) {
      const value = { name, text: own.text, source: 'topic' as const }
      return { ...value, synonyms: [value, ...inherited], key }
    }
    return { name, text, source: inherited[0]?.source ?? 'default', synonyms: inherited, key }
  }
}

/**
 * The configuration of any group: what its protocol takes from the broker's keys of the same name
 * behind `group.`, and what has a default of its own. No group has values of its own.
 */
export function groupEntries(broker: BrokerConfig): ConfigEntry[] {
  const inherited = broker.entries().flatMap((entry) => {
    const name = groupKeyOf(entry.name)
    return name === undefined ? [] : { ...entry, name }
  })
  return [...inherited, ...defaultEntries(groupOnlyKeys)]
}

/** The configuration of any subscription to metrics of clients. None has values of its own. */
export function clientMetricsEntries(): ConfigEntry[] {
  return defaultEntries(clientMetricsKeys).map((entry) => ({ ...entry, synonyms: [] }))
}

function defaultEntries(keys: Readonly<Record<string, Key<unknown>>>): ConfigEntry[] {
  return Object.entries(keys).map(([name, key]) => {
    const value = defaultValue(name, key.defaultText)
    return { ...value, synonyms: [value], key }
  })
}

function defaultValue(name: string, text: string): ConfigValue {
  return { name, text, source: 'default' }
}

/** The key of a topic under its name; undefined where there is none. */
export function topicKey(name: string): Key<unknown> | undefined {
  const brokerKey = topicTable.get(name)
  return brokerKey === undefined ? topicOnlyTable.get(name) : brokerKeys[brokerKey]
}

/** The key of a broker under its name; undefined where there is none. */
export function brokerKey(name: string): Key<unknown> | undefined {
  return brokerTable.get(name)
}

function parse(name: string, text: string): Setting {
  const key = brokerTable.get(name)
  if (!key) throw new SeglogError('INVALID_CONFIG', `configuration key ${name} is not known`)
  return setting(name, key, text, true)
}

/** Takes a key's value under its own name or the first of its aliases that was given. */
function take(
  name: string,
  key: Key<unknown>,
  unread: Map<string, string>,
  warn: (line: string) => void,
): Setting {
  let found: { alias: Alias; text: string } | undefined
  for (const alias of [{ name }, ...key.aliases]) {
    const text = unread.get(alias.name)
    if (text === undefined) continue
    unread.delete(alias.name)
    if (found !== undefined) {
      warn(`configuration key ${alias.name} is ignored, ${found.alias.name} is given too`)
      continue
    }
    found = { alias, text }
  }
  if (found === undefined) return setting(name, key, key.defaultText, false)
  if (key.effect !== 'yes') warn(`configuration key ${found.alias.name} has no effect here`)
  const { alias, text } = found
  const told = alias.name === name ? {} : { alias: { name: alias.name, text: text.trim() } }
  if (alias.factor === undefined) return { ...setting(alias.name, key, text, true), ...told }
  // Below 0 means "never" in every unit.
  const whole = /^[+-]?\d{1,10}$/.test(text.trim()) ? Number(text) : undefined
  if (whole === undefined) throw invalid(alias.name, text, 'a whole number')
  const inUnits = String(whole < 0 ? whole : whole * alias.factor)
  return { ...setting(alias.name, key, inUnits, true), ...told }
}

function setting(name: string, key: Key<unknown>, written: string, given: boolean): Setting {
  const text = written.trim()
  // Nobody could be told of a longer one: it is a string of the protocol.
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) {
    throw invalid(name, `${text.slice(0, 50)}...`, `at most ${TEXT_BYTES_MAX} bytes`)
  }
  const value = key.read(text)
  if (value === undefined) throw invalid(name, text, key.range)
  return { text, value, given }
}

/** Kafka 0.8 names a single listener by host.name and port. */
function joinHostAndPort(unread: Map<string, string>, warn: (line: string) => void) {
  for (const [list, hostKey, portKey] of [
    ['listeners', 'host.name', 'port'],
    ['advertised.listeners', 'advertised.host.name', 'advertised.port'],
  ] as const) {
    const host = unread.get(hostKey)
    const port = unread.get(portKey)
    if (host === undefined && port === undefined) continue
    unread.delete(hostKey)
    unread.delete(portKey)
    warn(`configuration keys ${hostKey} and ${portKey} are deprecated, use ${list}`)
    if (unread.has(list)) continue
    const bracketed = host?.includes(':') ? `[${host}]` : host
    unread.set(list, `PLAINTEXT://${bracketed ?? '127.0.0.1'}:${port ?? '9092'}`)
  }
}

const endpoints = (texts: readonly string[]) =>
  texts.map(parseEndpoint).filter((endpoint) => endpoint !== undefined)
