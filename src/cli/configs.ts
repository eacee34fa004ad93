/**
 * `seglog configs describe|alter`: the configuration of topics and brokers, by Kafka's protocol.
 */

import { quoted } from '../arguments.js'
import {
  alterKnown,
  type ConfigChange,
  type ConfigResource,
  describeConfigs,
} from '../client/admin-configs.js'
import { COMMON_USAGE, pairs, parseBootstrap, parseClient, withCluster } from './client-options.js'
import { listing } from './listing.js'
import type { Io } from './output.js'
import { UsageError } from './usage.js'

const USAGE = `usage: seglog configs describe topic TOPIC [--all]
       seglog configs describe broker [ID] [--all]
       seglog configs alter topic TOPIC [--set KEY=VALUE]... [--delete KEY]...
       seglog configs alter broker [ID] [--set KEY=VALUE]... [--delete KEY]...
  ID                  of a broker; without it, what holds for all of them
  --all               with what stands at its default
  --set               sets a key; may be repeated
  --delete            takes a key back; may be repeated
${COMMON_USAGE}`

const options = {
  all: { type: 'boolean', default: false },
  set: { type: 'string', multiple: true },
  delete: { type: 'string', multiple: true },
} as const

/** Runs the subcommand with the arguments behind `configs` and returns its exit code. */
export async function run(args: string[], io: Io): Promise<number> {
  const { values, positionals } = parseClient(args, options, USAGE)
  if (values.help) {
    io.stdout.write(USAGE)
    return 0
  }
  const [action = '', type = '', ...names] = positionals
  const resource = resourceOf(type, names)
  const bootstrap = parseBootstrap(values['bootstrap-server'], USAGE)
  if (action === 'describe') {
    if (values.set ?? values.delete) throw new UsageError('configs describe changes nothing', USAGE)
    return listing(io, values.json, (out) =>
      withCluster(bootstrap, async (cluster) => {
        const entries = await describeConfigs(cluster, resource)
        const shown = entries.filter(({ source }) => values.all || source !== 'default')
        const columns = ['name', 'value', 'source', 'readOnly']
        const rows = shown.map((entry) => ({
          resource: type,
          resourceName: resource.name,
          ...entry,
        }))
        out.rows('config', columns, rows)
        if (rows.length > 0 || values.json) return
        out.say('nothing is set; --all shows what stands at its default', 'none', {})
      }),
    )
  }
  if (action !== 'alter') {
    throw new UsageError(`the action is describe or alter, not ${quoted(action)}`, USAGE)
  }
  const changes: ConfigChange[] = [
    ...pairs('set', values.set, USAGE).map(([key, value]) => ({ name: key, set: value })),
    ...(values.delete ?? []).map((key) => ({ name: key, unset: true as const })),
  ]
  if (changes.length === 0) throw new UsageError('--set or --delete is needed', USAGE)
  return listing(io, values.json, (out) =>
    withCluster(bootstrap, async (cluster) => {
      await alterKnown(cluster, resource, changes)
      const what = resource.name === '' ? 'all brokers' : `${type} ${resource.name}`
      out.say(`${what} altered`, 'altered', { resource: type, resourceName: resource.name })
    }),
  )
}

function resourceOf(type: string, names: readonly string[]): ConfigResource {
  if (type !== 'topic' && type !== 'broker') {
    throw new UsageError(`topic or broker is needed, not ${quoted(type)}`, USAGE)
  }
  const [name = '', ...more] = names
  if (more.length > 0) throw new UsageError(`only one ${type} can be given`, USAGE)
  if (type === 'topic' && name === '') throw new UsageError('TOPIC is needed', USAGE)
  if (type === 'broker' && name !== '' && !/^\d{1,9}$/.test(name)) {
    throw new UsageError(`the ID of a broker is a number, not ${quoted(name)}`, USAGE)
  }
  return { type, name }
}
