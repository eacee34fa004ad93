/**
 * The form of a handler: the table of its API, the versions that it serves, and what it does. The
 * registry of handlers is what ApiVersions answers from.
 */
import type { AnyApi, RequestOf, ResponseInput } from '../protocol/schema.js'
import type { RequestContext } from './context.js'

export interface Handler {
  readonly api: AnyApi
  /** Served versions, both ends included. */
  readonly versions: readonly [number, number]
  /** Undefined where the request gets no response (acks=0). */
  handle(request: unknown, context: RequestContext): unknown | Promise<unknown>
}

export function handler<A extends AnyApi>(
  api: A,
  versions: readonly [number, number],
  handle: (
    request: RequestOf<A>,
    context: RequestContext,
  ) => ResponseInput<A> | undefined | Promise<ResponseInput<A> | undefined>,
): Handler {
  return { api, versions, handle: (request, context) => handle(request as RequestOf<A>, context) }
}
