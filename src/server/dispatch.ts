/**
 * From a frame to the parts of its response: header, table, handler, table. What no handler serves
 * closes the connection, as in Kafka, except that ApiVersions answers a version it does not know in
 * the form of version 0 (KIP-511), from which a newer client learns what to speak.
 */
import { apiVersions as apiVersionsTable } from '../apis/api-versions.js'
import { KafkaError, SeglogError } from '../errors.js'
import type { BrokerContext, Endpoint } from '../handlers/context.js'
import type { Handler } from '../handlers/handler.js'
import { encodeResponse, type RequestHeader, readRequestHeader } from '../protocol/frame.js'
import type { Part } from '../protocol/parts.js'
import type { Dispatch } from './connection.js'

/** A dispatcher for the clients of one listener, who are told to connect to `endpoint`. */
export function dispatcher(
  handlers: ReadonlyMap<number, Handler>,
  broker: BrokerContext,
  endpoint: Endpoint,
): Dispatch {
  return (frame, client) => {
    const header = readRequestHeader(frame, (key) => handlers.get(key)?.api)
    const handler = handlers.get(header.apiKey)
    if (!handler || !serves(handler, header.apiVersion)) return refuse(handler, header)
    const request = handler.api.request.read(header.reader, header.apiVersion)
    const context = {
      ...broker,
      endpoint,
      version: header.apiVersion,
      clientId: header.clientId,
      clientHost: `/${client.host}`,
      onClose: (callback: () => void) => client.onClose(callback),
    }
    const response = handler.handle(request, context)
    return response instanceof Promise
      ? response.then((value) => encode(handler, header, value))
      : encode(handler, header, response)
  }
}

function serves({ versions }: Handler, version: number): boolean {
  return version >= versions[0] && version <= versions[1]
}

function encode(handler: Handler, header: RequestHeader, response: unknown): Part[] | undefined {
  if (response === undefined) return undefined
  return encodeResponse(handler.api, header.apiVersion, header.correlationId, response).parts
}

function refuse(handler: Handler | undefined, header: RequestHeader): Part[] {
  const { apiKey, apiVersion, correlationId } = header
  if (handler?.api.key !== apiVersionsTable.key) {
    const text = `API key ${apiKey} version ${apiVersion} is not served`
    throw new SeglogError('UNSUPPORTED_VERSION', text)
  }
  const [minVersion, maxVersion] = handler.versions
  const body = {
    errorCode: KafkaError.UNSUPPORTED_VERSION,
    apiKeys: [{ apiKey, minVersion, maxVersion }],
  }
  return encodeResponse(apiVersionsTable, 0, correlationId, body).parts
}
