/**
 * ApiVersions: what the registry of handlers serves. A version that is not known is answered in the
 * form of version 0 with UNSUPPORTED_VERSION and the range of this API alone (KIP-511); see
 * `server/dispatch.ts`.
 */
import { apiVersions as api } from '../apis/api-versions.js'
import { KafkaError } from '../errors.js'
import { type Handler, handler } from './handler.js'

/** What KIP-511 allows as a client's name and version. */
const SOFTWARE = /^[a-zA-Z0-9](?:[a-zA-Z0-9\-.]*[a-zA-Z0-9])?$/

/** The handler for a broker that serves `handlers`, which it may be among. */
export function apiVersions(handlers: () => Iterable<Handler>): Handler {
  return handler(api, [0, 4], (request, { version }) => {
    const { clientSoftwareName: name, clientSoftwareVersion } = request
    if (version >= 3 && !(SOFTWARE.test(name) && SOFTWARE.test(clientSoftwareVersion))) {
      return { errorCode: KafkaError.INVALID_REQUEST, apiKeys: [], throttleTimeMs: 0 }
    }
    const apiKeys = [...handlers()].map(({ api: { key }, versions }) => ({
      apiKey: key,
      minVersion: versions[0],
      maxVersion: versions[1],
    }))
    return { errorCode: KafkaError.NONE, apiKeys, throttleTimeMs: 0 }
  })
}
