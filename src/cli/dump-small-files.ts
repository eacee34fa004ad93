/** Dumps the small files beside the logs, entry by entry: see small-files.ts. */
import type { Report } from './dump-report.js'
import type { Output } from './output.js'
import { readEntries } from './small-files.js'

/** Returns whether damage was found. */
export async function dumpSmallFile(
  path: string,
  report: Report,
  output: Output,
): Promise<boolean> {
  let damage: string | undefined
  const entries = await readEntries(path, (text) => {
    damage = text
  })
  report.file(path, undefined)
  for (const entry of entries) {
    report.entry(entry)
    if (output.full) await output.flush()
  }
  if (damage !== undefined) report.damage('corrupt', 0, damage)
  return damage !== undefined
}
