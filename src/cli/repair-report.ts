/**
 * What `seglog repair` did, or, with --dry-run, would do: one line each behind those of verify, in
 * text or with --json as objects of type action or kept.
 */
import type { Output } from './output.js'
import type { Loss } from './verify-log.js'

export type ActionName = 'cut' | 'drop' | 'index' | 'remove'

const words = {
  cut: ['cut', 'would cut'],
  drop: ['left out', 'would leave out'],
  index: ['index', 'would make'],
  remove: ['removed', 'would remove'],
} as const satisfies Record<ActionName, readonly [string, string]>

export class Actions {
  readonly #output: Output
  readonly #json: boolean
  readonly #dryRun: boolean
  /** Changes made, or that would be. */
  changes = 0
  /** Faults that are left. */
  keptCount = 0

  constructor(output: Output, { json, dryRun }: { json: boolean; dryRun: boolean }) {
    this.#output = output
    this.#json = json
    this.#dryRun = dryRun
  }

  done(action: ActionName, path: string, text: string): void {
    this.#act(action, path, {}, text)
  }

  /** Bytes that are no longer in the file. */
  lost(action: 'cut' | 'drop', path: string, loss: Loss, offsets: string): void {
    const { from, to, offsetFrom, offsetTo } = loss
    const fields = { position: from, endPosition: to, offsetFrom, offsetTo }
    this.#act(action, path, fields, `${to - from} bytes at byte ${from}; lost: ${offsets}`)
  }

  keptLoss(path: string, loss: Loss, offsets: string): void {
    const { from, to, offsetFrom, offsetTo } = loss
    const fields = { position: from, endPosition: to, offsetFrom, offsetTo }
    const text = `${to - from} damaged bytes at byte ${from}, in place of ${offsets}`
    this.#keep(path, fields, `${text}; --drop-damaged leaves them out`)
  }

  /** A fault that is not mended. */
  kept(path: string, text: string): void {
    this.#keep(path, {}, text)
  }

  /** A line of its own, such as where the copies lie. */
  say(type: string, path: string, text: string): void {
    this.#line({ type, path, text }, `${text}: ${path}`)
  }

  #act(action: ActionName, path: string, fields: object, text: string): void {
    this.changes++
    const [did, would] = words[action]
    const line = `${path}: ${this.#dryRun ? would : did} ${text}`
    this.#line({ type: 'action', action, dryRun: this.#dryRun, path, ...fields, text }, line)
  }

  #keep(path: string, fields: object, text: string): void {
    this.keptCount++
    this.#line({ type: 'kept', path, ...fields, text }, `${path}: kept ${text}`)
  }

  #line(object: object, text: string): void {
    this.#output.line(this.#json ? JSON.stringify(object) : text)
  }
}
