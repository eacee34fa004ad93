/**
 * The text in which metrics are given out: that of Prometheus, version 0.0.4. A family has a name,
 * a type and a sentence; its samples follow it. Also the histograms and their bounds.
 */

export const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export type Labels = Readonly<Record<string, string | number>>
export type MetricType = 'counter' | 'gauge' | 'histogram'

export class MetricsText {
  readonly #lines: string[] = []
  #name = ''

  /** Begins a family. Names are in snake case, with the unit and, of counters, `_total` behind. */
  family(name: string, type: MetricType, help: string): this {
    this.#name = name
    this.#lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`)
    return this
  }

  /** A sample of the family that was begun last. */
  sample(value: number, labels: Labels = {}, suffix = ''): this {
    const given = Object.entries(labels).map(([name, each]) => `${name}="${escaped(each)}"`)
    const set = given.length === 0 ? '' : `{${given.join(',')}}`
    this.#lines.push(`${this.#name}${suffix}${set} ${value}`)
    return this
  }

  toString(): string {
    return `${this.#lines.join('\n')}\n`
  }
}

function escaped(value: string | number): string {
  return String(value).replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}

/** Upper bounds in seconds: from what a cached fetch takes to what a parked one does. */
export const SECONDS = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
]

/** Counts of durations by bound. Adding one costs a search in a short array and two additions. */
export class DurationHistogram {
  readonly #counts = new Float64Array(SECONDS.length + 1)
  #sum = 0

  add(ms: number): void {
    const seconds = ms / 1000
    let i = 0
    while (i < SECONDS.length && seconds > SECONDS[i]!) i++
    this.#counts[i]! += 1
    this.#sum += seconds
  }

  get count(): number {
    return this.#counts.reduce((sum, each) => sum + each, 0)
  }

  /** Its samples, for the family that was begun last. */
  write(text: MetricsText, labels: Labels = {}): void {
    let count = 0
    for (const [i, bound] of SECONDS.entries()) {
      count += this.#counts[i]!
      text.sample(count, { ...labels, le: bound }, '_bucket')
    }
    count += this.#counts[SECONDS.length]!
    text.sample(count, { ...labels, le: '+Inf' }, '_bucket')
    text.sample(this.#sum, labels, '_sum')
    text.sample(count, labels, '_count')
  }
}
