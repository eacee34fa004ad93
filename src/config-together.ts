/**
 * What no single key of the configuration can tell: listeners, directories and ports that exclude
 * each other. Errors: INVALID_CONFIG with key, value and what is allowed.
 */
import { resolve } from 'node:path'
import type { BrokerConfig } from './config.js'
import { parseEndpoint } from './config-keys.js'
import { SeglogError } from './errors.js'

/** What no single key can tell. */
export function checkTogether(config: BrokerConfig): void {
  const names = config.listeners.map(({ name }) => name)
  if (new Set(names).size !== names.length) {
    throw invalid('listeners', config.text('listeners'), 'a different name for each listener')
  }
  const mapped = config.get('listener.security.protocol.map').flatMap((entry) => {
    const [name = '', protocol] = entry.split(':')
    return protocol === 'PLAINTEXT' ? name : []
  })
  const unmapped = names.find((name) => !mapped.some((known) => known.toUpperCase() === name))
  if (unmapped !== undefined) {
    const text = `names that listener.security.protocol.map calls PLAINTEXT: ${mapped.join(', ')}`
    throw invalid('listeners', config.text('listeners'), text)
  }
  for (const { name, host } of config
    .get('advertised.listeners')
    .flatMap((text) => parseEndpoint(text) ?? [])) {
    if (!names.includes(name) || host === '' || host === '0.0.0.0' || host === '::') {
      const text = config.text('advertised.listeners')
      throw invalid('advertised.listeners', text, 'names of listeners with an address to reach')
    }
  }
  const metricsPort = config.get('metrics.port')
  if (metricsPort > 0 && config.listeners.some(({ port }) => port === metricsPort)) {
    throw invalid('metrics.port', String(metricsPort), 'a port that no listener has')
  }
  const directories = config.get('log.dirs').map((path) => resolve(path))
  if (new Set(directories).size !== directories.length) {
    throw invalid('log.dirs', config.text('log.dirs'), 'a different directory each time')
  }
  const shortest = config.get('group.min.session.timeout.ms')
  if (config.get('group.max.session.timeout.ms') < shortest) {
    const text = config.text('group.max.session.timeout.ms')
    throw invalid('group.max.session.timeout.ms', text, `${shortest} or more`)
  }
}

export const invalid = (name: string, text: string, range: string) =>
  new SeglogError('INVALID_CONFIG', `${name}=${text} is not allowed; allowed is: ${range}`)
