/**
 * What the three APIs of configurations mean by a resource: a topic by name, this broker by id, all
 * brokers by the empty name; groups and subscriptions to metrics of clients, of which each has the
 * defaults.
 */
import { topicNameFault } from '../controller/topic-names.js'
import { KafkaError, ProtocolError } from '../errors.js'
import type { RequestContext } from './context.js'

export const ResourceType = {
  TOPIC: 2,
  BROKER: 4,
  BROKER_LOGGER: 8,
  CLIENT_METRICS: 16,
  GROUP: 32,
} as const

export interface Resource {
  resourceType: number
  resourceName: string
}

/** INVALID_TOPIC_EXCEPTION for what no topic can be called. */
export function checkTopicName(name: string): void {
  const fault = topicNameFault(name)
  if (fault) throw new ProtocolError(KafkaError.INVALID_TOPIC_EXCEPTION, fault)
}

/** Which values of a broker a name stands for. Throws INVALID_REQUEST for another broker. */
export function brokerScope(name: string, { brokerId }: RequestContext): 'dynamic' | 'cluster' {
  if (name === '') return 'cluster'
  if (name === String(brokerId)) return 'dynamic'
  const text = /^-?\d{1,10}$/.test(name)
    ? `Unexpected broker id, expected ${brokerId} or empty string, but received ${name}`
    : `Broker id must be an integer, but it is: ${name}`
  throw new ProtocolError(KafkaError.INVALID_REQUEST, text)
}

export function unknownType(resourceType: number): ProtocolError {
  const text = `Resources of type ${resourceType} have no configuration here.`
  return new ProtocolError(KafkaError.INVALID_REQUEST, text)
}
