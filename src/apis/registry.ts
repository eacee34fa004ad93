/**
 * Every API for which there is a table, by key and by name. The versions here are those that the tables can read and
 * write; which of them a broker serves and advertises, its handlers say.
 */
import type { AnyApi } from '../protocol/schema.js'
import { apiVersions } from './api-versions.js'
import { fetch } from './fetch.js'
import { metadata } from './metadata.js'
import { produce } from './produce.js'

/** In the order of their keys. */
export const apis: readonly AnyApi[] = [produce, fetch, metadata, apiVersions]

const byKey: (AnyApi | undefined)[] = []
for (const api of apis) byKey[api.key] = api
const byName = new Map(apis.map((api) => [api.name, api]))

/** The table of an API, or undefined for a key that has none. */
export function apiByKey(key: number): AnyApi | undefined {
  return byKey[key]
}

/** The table of an API by Kafka's name for it, such as 'Fetch'. */
export function apiByName(name: string): AnyApi | undefined {
  return byName.get(name)
}
