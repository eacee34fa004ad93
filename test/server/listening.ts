/**
 * A listener with handlers of a test's own: by default a fetch that waits until its client goes.
 */
import type { TestContext } from 'node:test'
import { fetch } from '../../src/apis/fetch.js'
import { type Env, systemEnv } from '../../src/env.js'
import type { BrokerContext } from '../../src/handlers/context.js'
import { type Handler, handler } from '../../src/handlers/handler.js'
import { dispatcher } from '../../src/server/dispatch.js'
import { Listener, type ListenerOptions } from '../../src/server/listener.js'
import type { Wire } from '../support/wire.js'

export async function listen(
  t: TestContext,
  handlers: readonly Handler[] = [],
  options: Partial<ListenerOptions> & { env?: Env } = {},
) {
  const { env = systemEnv, ...rest } = options
  let parked = 0
  const answers = new Set<() => void>()
  const waiting = handler(fetch, [4, 18], (_, { onClose }) => {
    parked++
    return new Promise((resolve) => {
      const end = () => {
        if (!answers.delete(end)) return
        parked--
        resolve({ responses: [] })
      }
      answers.add(end)
      onClose(end)
    })
  })
  const table = new Map([waiting, ...handlers].map((each) => [each.api.key, each]))
  const lines: string[] = []
  const note = (line: string) => void lines.push(line)
  const logger = { info: note, warn: note, error: note }
  // The handlers here look at nothing of a broker.
  const dispatch = dispatcher(table, {} as BrokerContext, { host: 'h', port: 1 })
  const chosen = { host: '127.0.0.1', port: 0, maxFrameBytes: 1 << 20, maxIdleMs: -1, ...rest }
  const listener = await Listener.open(chosen, dispatch, env, logger)
  t.after(() => listener.close(0))
  const wires: Wire[] = []
  return {
    listener,
    port: listener.port,
    lines,
    wires,
    parked: () => parked,
    connections: () => listener.connections,
    answerAll: () => {
      for (const answer of [...answers]) answer()
    },
  }
}
