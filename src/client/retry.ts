/**
 * Attempts of an operation until it succeeds, fails for good, or the time is up. The pause between
 * two grows from 20 ms to a second, with a random part, so that many clients do not come at once.
 */
import type { Env } from '../env.js'
import { isRetriable } from './errors.js'

const PAUSE_MS = 20
const PAUSE_MS_MAX = 1000

export interface RetryOptions {
  env: Env
  /** ms from the first attempt within which another one may begin. */
  timeoutMs: number
  /** Told of each failure behind which another attempt comes, to forget what proved wrong. */
  failed?(error: unknown): void
  /** Default: what `isRetriable` of errors.ts says. */
  isRetriable?(error: unknown): boolean
}

/** Rejects with the error of the last attempt. */
export async function retrying<T>(attempt: () => Promise<T>, options: RetryOptions): Promise<T> {
  const { env, timeoutMs } = options
  const endMs = env.monotonic() + timeoutMs
  for (let pauseMs = PAUSE_MS; ; pauseMs = Math.min(pauseMs * 2, PAUSE_MS_MAX)) {
    try {
      return await attempt()
    } catch (error) {
      if (!(options.isRetriable ?? isRetriable)(error)) throw error
      if (env.monotonic() + pauseMs > endMs) throw error
      options.failed?.(error)
      await pause(env, pauseMs / 2 + env.random.below(pauseMs))
    }
  }
}

/** Waits, and keeps the process alive meanwhile. */
export function pause(env: Env, ms: number): Promise<void> {
  return new Promise((resolve) => {
    env.after(ms, resolve, true)
  })
}
