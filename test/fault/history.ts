/**
 * What a writer told its tester, one line per event, and what follows from it for the log: which
 * record must be at an offset, which may.
 *
 *   o end      the log is open and ends there        i end      an append up to there begins
 *   a end      it was acknowledged                    d end      all below is durable
 *   t offset   a truncation begins                    T offset   it is done
 *   s offset   a deletion of what is below begins     S offset   it is done
 *   e code     an act failed with this code           c          the log was closed
 *   p          power was lost: what was not durable may be gone
 */
import { existsSync, readFileSync } from 'node:fs'

/** Offsets from `from` to below `to` hold records of this generation. */
interface Run {
  generation: number
  from: number
  to: number
}

export class History {
  /** The log as it was acknowledged, and as it was reported durable. */
  acknowledged: Run[] = []
  durable: Run[] = []
  /** Per generation: where it begins, and the end of what was ever tried in it. */
  readonly generations: { from: number; to: number }[] = [{ from: 0, to: 0 }]
  truncating = false
  /** Where the log ends behind its truncation was not told yet: it takes whole batches. */
  unsettled = false
  /** Start of the log at most, by deletions that began; what was deleted may come back. */
  startMax = 0
  /** As acknowledged before truncations that may not come about, and of which generation. */
  #uncut: { runs: Run[]; generation: number } = { runs: [], generation: 0 }
  failures: string[] = []
  closed = false

  get generation(): number {
    return this.generations.length - 1
  }

  apply(line: string): void {
    const [verb, word = ''] = line.split(' ')
    const offset = Number(word)
    const newest = this.generations[this.generation]!
    if (verb === 'o') this.#opened(offset)
    else if (verb === 'i') newest.to = Math.max(newest.to, offset)
    else if (verb === 'a') extend(this.acknowledged, this.generation, offset)
    else if (verb === 'd') this.#synced(offset)
    else if (verb === 't') this.#cut(offset)
    else if (verb === 'T') this.truncating = false
    else if (verb === 's') this.startMax = Math.max(this.startMax, offset)
    else if (verb === 'e') this.failures.push(word)
    else if (verb === 'c') this.closed = true
    else if (verb === 'p') this.acknowledged = this.durable.map((run) => ({ ...run }))
  }

  /** What a crash left of an append or a truncation under way is the log from now on. */
  #opened(end: number): void {
    // What stands behind what was acknowledged is of the last append before the crash.
    const generation = this.truncating ? this.#uncut.generation : this.generation
    // A cut that a crash kept from happening: what is written from now on follows what was there.
    if (this.truncating) {
      for (const run of this.generations.slice(generation + 1)) {
        run.from = run.to = Math.max(run.from, end)
      }
      this.acknowledged = this.#uncut.runs
      cut(this.acknowledged, end)
    }
    this.truncating = this.unsettled = false
    this.closed = false
    const last = endOf(this.acknowledged)
    if (end > last) extend(this.acknowledged, generation, end)
    else {
      cut(this.acknowledged, end)
      cut(this.durable, end)
    }
  }

  #synced(end: number): void {
    const before = endOf(this.durable)
    if (end <= before) return
    this.durable = this.acknowledged.map((run) => ({ ...run }))
    cut(this.durable, end)
  }

  #cut(offset: number): void {
    if (!this.truncating) {
      const runs = this.acknowledged.map((run) => ({ ...run }))
      this.#uncut = { runs, generation: this.generation }
    }
    cut(this.acknowledged, offset)
    cut(this.durable, offset)
    this.generations.push({ from: offset, to: offset })
    this.truncating = this.unsettled = true
  }
}

export const endOf = (runs: readonly Run[]) => runs[runs.length - 1]?.to ?? 0

export const generationAt = (runs: readonly Run[], offset: number) =>
  runs.find(({ from, to }) => from <= offset && offset < to)?.generation

function extend(runs: Run[], generation: number, to: number): void {
  const last = runs[runs.length - 1]
  if (last?.generation === generation) last.to = to
  else runs.push({ generation, from: endOf(runs), to })
}

function cut(runs: Run[], offset: number): void {
  for (const run of runs) run.to = Math.min(run.to, offset)
  while (runs.length > 0 && runs[runs.length - 1]!.to <= runs[runs.length - 1]!.from) runs.pop()
}

export function readHistory(path: string): History {
  const history = new History()
  const text = existsSync(path) ? readFileSync(path, 'latin1') : ''
  // A line that was being written when the process ended was not told.
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    if (line) history.apply(line)
  }
  return history
}
