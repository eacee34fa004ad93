/**
 * Compares two decoded answers, and what is found with a list of what is meant to differ: a
 * difference that no entry covers is a fault, and so is an entry that covers none.
 */
export interface Difference {
  readonly api: string
  readonly version: number
  /** Of the case. */
  readonly name: string
  /** Of the field, with the names of structs and without places in lists. */
  readonly path: string
  readonly kafka: unknown
  readonly seglog: unknown
}

export interface Meant {
  readonly api: string
  readonly name?: string
  readonly path: RegExp
  readonly why: string
}

export function differences(
  place: Pick<Difference, 'api' | 'version' | 'name'>,
  kafka: unknown,
  seglog: unknown,
  path = '',
): Difference[] {
  if (Array.isArray(kafka) && Array.isArray(seglog)) {
    const [rest, further] = [new Map(byName(kafka)), byName(seglog)]
    const found = further.flatMap(([key, value]) => {
      const expected = rest.get(key)
      rest.delete(key)
      return differences(place, expected, value, `${path}/${key}`)
    })
    const lacking = [...rest].flatMap(([key, value]) => {
      return differences(place, value, undefined, `${path}/${key}`)
    })
    return [...found, ...lacking]
  }
  if (isObject(kafka) && isObject(seglog)) {
    const names = new Set([...Object.keys(kafka), ...Object.keys(seglog)])
    return [...names].flatMap((name) => {
      return differences(place, kafka[name], seglog[name], `${path}/${name}`)
    })
  }
  return kafka === seglog ? [] : [{ ...place, path, kafka, seglog }]
}

/** What a struct of a list is called by, in the order in which one of them is there. */
const NAMES = ['name', 'topic', 'topicName', 'topicId', 'groupId', 'resourceName', 'apiKey']

/** The entries of a list by name where they have one, else by place. */
function byName(list: readonly unknown[]): [string, unknown][] {
  const times = new Map<string, number>()
  return list.map((entry, at) => {
    const field = isObject(entry) ? NAMES.find((each) => entry[each] !== undefined) : undefined
    const key = isObject(entry) && field !== undefined ? String(entry[field]) : String(at)
    const time = (times.get(key) ?? 0) + 1
    times.set(key, time)
    return [time === 1 ? key : `${key} (${time})`, entry]
  })
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const covers = (meant: Meant, { api, name, path }: Difference) =>
  meant.api === api && (meant.name ?? name) === name && meant.path.test(path)

/** What is not meant, and entries without a difference, as lines for people. */
export function surprises(found: readonly Difference[], list: readonly Meant[]): string[] {
  const unexpected = found.filter((each) => !list.some((meant) => covers(meant, each)))
  const unused = list.filter((meant) => !found.some((each) => covers(meant, each)))
  return [
    ...unexpected.map(({ api, version, name, path, kafka, seglog }) => {
      const values = `Kafka ${brief(kafka)}, seglog ${brief(seglog)}`
      return `${api} ${version}, ${name}: ${path || 'outcome'}: ${values}`
    }),
    ...unused.map(({ api, name = 'any case', path }) => {
      return `${api}, ${name}: ${path} does not differ any more: take it off the list`
    }),
  ]
}

function brief(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing'
  return text.length <= 200 ? text : `${text.slice(0, 200)}...`
}
