/**
 * What `seglog verify` says: faults, which make a directory unsound, and notes, which do not. In
 * text one line each, with --json one object a line; docs/tools.md lists kinds and fields.
 */
import { counted, type Output } from './output.js'

export interface Finding {
  severity: 'fault' | 'note'
  /** One word or two for programs. */
  kind: string
  path: string
  /** First byte concerned, where a place in the file is meant. */
  position?: number | undefined
  /** First byte behind what is concerned. */
  endPosition?: number | undefined
  /** The offset of the log that is concerned. */
  offset?: number | undefined
  text: string
}

export class Findings {
  readonly #output: Output
  readonly #json: boolean
  files = 0
  batches = 0
  records = 0
  faults = 0
  notes = 0
  /** Faults that are a file or folder which could not be read. */
  unreadable = 0

  constructor(output: Output, json: boolean) {
    this.#output = output
    this.#json = json
  }

  /** The reader of the output is gone: nothing more needs to be looked at. */
  get closed(): boolean {
    return this.#output.closed
  }

  add(finding: Finding): void {
    if (finding.severity === 'fault') this.faults++
    else this.notes++
    if (finding.kind === 'unreadable') this.unreadable++
    this.#output.line(this.#json ? inJson(finding) : inText(finding))
  }

  fault(path: string, kind: string, text: string): void {
    this.add({ severity: 'fault', kind, path, text })
  }

  note(path: string, kind: string, text: string): void {
    this.add({ severity: 'note', kind, path, text })
  }

  /** Waits for the output where much was said. */
  async settle(): Promise<void> {
    if (this.#output.full) await this.#output.flush()
  }

  summary(): void {
    const { files, batches, records, faults, notes } = this
    if (this.#json) {
      const fields = { type: 'summary', files, batches, records, faults, notes }
      this.#output.line(JSON.stringify(fields))
      return
    }
    const contents = [counted(batches, 'batch', 'batches'), counted(records, 'record')]
    const read = [counted(files, 'file'), ...contents].join(', ')
    const found = `${counted(faults, 'fault')}, ${counted(notes, 'note')}`
    this.#output.line(`${faults === 0 ? 'sound' : 'FAULTS'}: ${read}; ${found}`)
  }
}

function inJson({ severity, kind, path, position, endPosition, offset, text }: Finding): string {
  return JSON.stringify({ type: severity, kind, path, position, endPosition, offset, text })
}

function inText({ severity, kind, path, position, offset, text }: Finding): string {
  const at = position === undefined ? '' : ` at byte ${position}`
  const of = offset === undefined ? '' : ` (offset ${offset})`
  return printable(`${path}: ${severity === 'fault' ? 'FAULT' : 'note'} ${kind}${at}${of}: ${text}`)
}

/** Names come from the disk: what would steer a terminal is shown and not sent. */
export function printable(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it is they that are looked for
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (char) => {
    return `\\x${char.charCodeAt(0).toString(16).padStart(2, '0')}`
  })
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
