/**
 * The results of a suite as a table for people and as JSON for programs. The JSON carries the name
 * and version of its schema; a field is added without a new version, and changed or removed only
 * with one.
 */
import type { Machine } from './machine.js'
import type { ComparisonResult, Side, SizeResult } from './micro.js'
import type { RateCell, RateTable } from './rates.js'
import type { Spread } from './statistics.js'
import type { Outcome, Suite } from './suite.js'

export const SCHEMA = 'seglog-bench/2'

export interface Report extends Outcome {
  schema: typeof SCHEMA
  suite: string
  question: string
  /** ISO 8601. */
  startedAt: string
  /** Few and short trials. */
  quick: boolean
  machine: Machine
  context: string[]
  contestants: { name: string; note: string }[]
}

/** A size in the largest binary unit that divides it: 100 B, 16 KiB. */
export function sizeText(bytes: number): string {
  if (bytes >= 1 << 20 && bytes % (1 << 20) === 0) return `${bytes >> 20} MiB`
  if (bytes >= 1 << 10 && bytes % (1 << 10) === 0) return `${bytes >> 10} KiB`
  return `${bytes} B`
}

/** Three significant digits, and never an exponent. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return '-'
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(value, 0.001))) + 1)
  return value.toFixed(value < 1 ? 3 : Math.max(0, 3 - whole))
}

function spreadText(spread: Spread, unit = 1): string {
  const [median, min, max] = [spread.median, spread.min, spread.max].map((each) =>
    digits(each / unit),
  )
  return `${median} (${min}..${max})`
}

function sideCells(side: Side): string[] {
  const megabytes = (side.bytesPerOperation * 1e3) / side.spread.median
  return [spreadText(side.spread, 1000), digits(megabytes)]
}

function row(result: SizeResult): string[] {
  return [
    sizeText(result.size),
    ...sideCells(result.candidate),
    ...sideCells(result.baseline),
    spreadText(result.ratio),
  ]
}

/** Lines with columns set flush right, the first one flush left. */
export function table(rows: readonly (readonly string[])[]): string[] {
  const columns = Math.max(...rows.map((each) => each.length))
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...rows.map((each) => each[column]?.length ?? 0)),
  )
  return rows.map((each) =>
    widths
      .map((width, column) => {
        const cell = each[column] ?? ''
        return column === 0 ? cell.padEnd(width) : cell.padStart(width)
      })
      .join('  ')
      .trimEnd(),
  )
}

function comparisonLines(comparison: ComparisonResult): string[] {
  const title = `${comparison.candidate}, against ${comparison.baseline}`
  if (comparison.missing !== undefined) return [title, `  not run: ${comparison.missing}`, '']
  const head = ['size', 'us/op', 'MB/s', 'baseline us/op', 'MB/s', 'times faster']
  const lines = table([head, ...comparison.sizes.map(row)])
  return [title, ...lines.map((line) => `  ${line}`), '']
}

/** 9.8M, 173k, 1508: a rate as short as its digits allow. */
export function rateText(perSecond: number): string {
  if (perSecond >= 1e6) return `${digits(perSecond / 1e6)}M`
  return perSecond >= 1e4 ? `${digits(perSecond / 1e3)}k` : digits(perSecond)
}

function rateCells(cell: RateCell | null): string[] {
  if (cell === null) return ['-', '']
  const [median, min, max] = [cell.spread.median, cell.spread.min, cell.spread.max].map(rateText)
  return [`${median} (${min}..${max})`, cell.ratio ? spreadText(cell.ratio) : '']
}

function rateLines({ title, unit, sizes, rows }: RateTable): string[] {
  const head = ['', ...sizes.flatMap((size) => [sizeText(size), 'x'])]
  const lines = table([head, ...rows.map(({ name, cells }) => [name, ...cells.flatMap(rateCells)])])
  return [
    `${title}: ${unit} a second; x is how many times faster ${rows[0]?.name} is`,
    ...lines.map((line) => `  ${line}`),
    '',
  ]
}

/**
 * The report as lines of text. Figures are medians, with the least and the largest trial in
 * brackets.
 */
export function reportLines(report: Report): string[] {
  const { cpu, cores, arch, kernel, node, memoryBytes } = report.machine
  const rounds = report.rounds === 1 ? '1 round' : `${report.rounds} rounds`
  return [
    `${report.suite}: ${report.question}`,
    `  ${cpu}, ${cores} cores, ${arch}, ${digits(memoryBytes / 2 ** 30)} GiB`,
    `  Linux ${kernel}, Node ${node}`,
    ...report.context.map((line) => `  ${line}`),
    `  ${rounds} of trials of ${report.secondsPerTrial} s, each in its own process`,
    ...(report.quick
      ? ['  --quick: the trials are too few and too short for figures to quote']
      : []),
    '  figures: median (min..max) over the rounds; ratios are taken within a round',
    '',
    ...report.comparisons.flatMap(comparisonLines),
    ...report.rates.flatMap(rateLines),
    ...report.contestants.map(({ name, note }) => `  ${name}: ${note}`),
    '',
  ]
}

export function makeReport(
  suite: Suite,
  outcome: Outcome,
  facts: Pick<Report, 'startedAt' | 'quick' | 'machine' | 'context'>,
): Report {
  return {
    schema: SCHEMA,
    suite: suite.name,
    question: suite.question,
    ...facts,
    ...outcome,
    contestants: suite.contestants.map(({ name, note }) => ({ name, note })),
  }
}
