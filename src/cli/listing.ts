/**
 * Rows of what a broker tells: as columns of text with their heads, or with --json one object a
 * line. Text of others is printed with care: see shown.ts.
 */

import type { Io } from './output.js'
import { Output } from './output.js'
import { inText } from './shown.js'

export type Cell = string | number | boolean | null
/** The fields of one row by name, in the order of the columns. Arrays and objects: JSON alone. */
export type Row = Readonly<Record<string, unknown>>

export interface Listing {
  /** Rows of one kind, in columns that are as wide as their cells want. */
  rows(type: string, columns: readonly string[], rows: readonly Row[]): void
  /** A sentence, in JSON its fields. */
  say(text: string, type: string, fields: Row): void
}

/** Runs `work` with a listing to stdout. Resolves with the exit code. */
export async function listing(
  io: Io,
  isJson: boolean,
  work: (listing: Listing) => Promise<void>,
): Promise<number> {
  const output = new Output(io.stdout)
  try {
    await work(isJson ? jsonListing(output) : textListing(output))
  } finally {
    await output.end()
  }
  return output.failed ? 1 : 0
}

function jsonListing(output: Output): Listing {
  const line = (type: string, fields: Row) => output.line(JSON.stringify({ type, ...fields }))
  return {
    rows(type, _columns, rows) {
      for (const row of rows) line(type, row)
    },
    say: (_text, type, fields) => line(type, fields),
  }
}

function textListing(output: Output): Listing {
  return {
    rows(_type, columns, rows) {
      if (rows.length === 0) return
      const table = [columns, ...rows.map((row) => columns.map((name) => wordOf(row[name])))]
      const widths = columns.map((_, i) => Math.max(...table.map((cells) => cells[i]?.length ?? 0)))
      for (const cells of table) {
        const padded = cells.map((cell, i) => cell.padEnd(widths[i] ?? 0))
        output.line(padded.join('  ').trimEnd())
      }
    },
    say: (text) => output.line(text),
  }
}

function wordOf(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
  if (Array.isArray(value)) return value.length === 0 ? '-' : value.map(wordOf).join(',')
  return typeof value === 'string' ? inText(Buffer.from(value)) : String(value)
}
