/** A listener that answers requests as a test says, byte for byte. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { apiVersions } from '../../src/apis/api-versions.js'
import { apiByKey } from '../../src/apis/registry.js'
import { systemEnv } from '../../src/env.js'
import { encodeResponse, FrameReader, readRequestHeader } from '../../src/protocol/frame.js'
import type { Api } from '../../src/protocol/schema.js'

export interface Received {
  apiKey: number
  apiVersion: number
  correlationId: number
  clientId: string | null
}

export type Answer = (request: Received, socket: Socket) => void

/** Answers ApiVersions by itself with `ranges`, and the rest by `answer`. */
export async function fakeBroker(
  t: TestContext,
  answer: Answer,
  ranges: readonly [number, number, number][] = [[3, 0, 12]],
) {
  const requests: Received[] = []
  const server = createServer((socket) => {
    t.after(() => socket.destroy())
    socket.on('error', () => {})
    const frames = new FrameReader(1 << 20)
    socket.on('data', (chunk) => {
      for (const frame of frames.push(chunk)) {
        const header = readRequestHeader(frame, apiByKey)
        requests.push(header)
        if (header.apiKey === apiVersions.key) reply(socket, header, apiVersions, versions(ranges))
        else answer(header, socket)
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { requests, address: { host: '127.0.0.1', port: address.port } }
}

const versions = (ranges: readonly [number, number, number][]) => ({
  errorCode: 0,
  apiKeys: ranges.map(([apiKey, minVersion, maxVersion]) => ({ apiKey, minVersion, maxVersion })),
})

export function reply<Q, QI, S, SI>(
  socket: Socket,
  { apiVersion, correlationId }: Received,
  api: Api<Q, QI, S, SI>,
  body: SI,
): void {
  const { parts } = encodeResponse(api, apiVersion, correlationId, body)
  socket.write(Buffer.concat(parts as Uint8Array[]))
}

export const connectionOptions = {
  env: systemEnv,
  clientId: 'test',
  connectTimeoutMs: 5000,
  requestTimeoutMs: 5000,
  maxResponseBytes: 1 << 20,
}
