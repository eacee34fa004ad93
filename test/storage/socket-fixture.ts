/** Two ends of a connection over loopback, and a reader that checks every byte as it comes. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestContext } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { native } from '../../src/native.js'

/** `sender` is the server's end; `reader` is paused. Both go with the test. */
export async function connectedPair(t: TestContext): Promise<{ sender: Socket; reader: Socket }> {
  const server = createServer({ noDelay: true }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1')
  const [[sender]] = (await Promise.all([once(server, 'connection'), once(reader, 'connect')])) as [
    [Socket],
    unknown,
  ]
  server.close()
  // A failed write is told by a rejection and, as Node does it, by this event; tests look at the
  // former.
  for (const socket of [sender, reader]) {
    socket.on('error', () => {})
    t.after(() => socket.destroy())
  }
  reader.pause()
  return { sender, reader }
}

/** Reads until all of `expected` came, comparing on the way; nothing may follow them. */
export async function expectBytes(reader: Socket, expected: readonly Uint8Array[]): Promise<void> {
  let part = 0
  let at = 0
  const total = expected.reduce((sum, bytes) => sum + bytes.length, 0)
  let received = 0
  await new Promise<void>((resolve, reject) => {
    reader.on('data', (chunk: Buffer) => {
      received += chunk.length
      for (let from = 0; from < chunk.length; ) {
        while (expected[part]?.length === at) [part, at] = [part + 1, 0]
        const bytes = expected[part]
        if (bytes === undefined) return reject(new Error('more bytes than were sent'))
        const length = Math.min(chunk.length - from, bytes.length - at)
        const same = chunk.subarray(from, from + length).equals(bytes.subarray(at, at + length))
        if (!same) return reject(new Error(`part ${part} differs near ${at}`))
        from += length
        at += length
      }
      if (received === total) resolve()
    })
    reader.once('close', () => reject(new Error(`closed after ${received} of ${total} bytes`)))
    reader.resume()
  })
}

/** Waits until `condition` holds; fails after 5 s. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  for (let round = 0; !condition(); round++) {
    assert.ok(round < 1000, `not in time: ${what}`)
    await delay(5)
  }
}

/** Descriptors of sockets that this process holds. */
export function openDescriptors(): number {
  return readdirSync('/proc/self/fd').length
}

export async function nothingPending(): Promise<void> {
  await until(() => native.transferPending() === 0, 'the end of all transfers')
}
