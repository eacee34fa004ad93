/**
 * What `seglog repair` did, or, with --dry-run, would do: one line each behind those of verify, in
 * text or with --json as objects of type action or kept.
 */
import { counted, type Output } from './output.js'
import { printable } from './verify-findings.js'
import type { Loss } from './verify-log.js'

export type ActionName = 'cut' | 'drop' | 'index' | 'remove'

const words = {
  cut: ['cut', 'would cut'],
  drop: ['left out', 'would leave out'],
  index: ['made anew', 'would be made anew'],
  remove: ['removed:', 'would be removed:'],
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
    this.#act(
      action,
      path,
      fields,
      `${counted(to - from, 'byte')} at byte ${from}; lost: ${offsets}`,
    )
  }

  keptLoss(path: string, loss: Loss, offsets: string): void {
    const { from, to, offsetFrom, offsetTo } = loss
    const fields = { position: from, endPosition: to, offsetFrom, offsetTo }
    const damaged = counted(to - from, 'damaged byte')
    const text = `kept ${damaged} at byte ${from}, in place of ${offsets}`
    this.#keep(path, fields, `${text}; --drop-damaged leaves them out`)
  }

  /** A fault that is not mended. */
  kept(path: string, text: string): void {
    this.#keep(path, {}, `kept: ${text}`)
  }

  /** A line of its own, such as where the copies lie. */
  say(type: string, path: string, text: string): void {
    this.#line({ type, path, text }, `${text}: ${path}`)
  }

  #act(action: ActionName, path: string, fields: object, text: string): void {
    this.changes++
    const [did, would] = words[action]
    const dryRun = this.#dryRun
    const sentence = `${dryRun ? would : did} ${text}`
    const object = { type: 'action', action, dryRun, path, ...fields, text: sentence }
    this.#line(object, `${path}: ${sentence}`)
  }

  #keep(path: string, fields: object, text: string): void {
    this.keptCount++
    this.#line({ type: 'kept', path, ...fields, text }, `${path}: ${text}`)
  }

  #line(object: object, text: string): void {
    this.#output.line(this.#json ? JSON.stringify(object) : printable(text))
  }
}
