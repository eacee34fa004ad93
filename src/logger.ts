/**
 * Lines for the operator, on stderr unless the embedder takes them. The level of a line is its
 * method. A line is one event, in logfmt or in JSON, with the time in UTC, the level and the text.
 */
export interface Logger {
  info(line: string): void
  warn(line: string): void
  error(line: string): void
}

const levels = ['info', 'warn', 'error', 'off'] as const
const formats = ['logfmt', 'json'] as const

/** What is at least told; `off` is nothing at all. */
export type LogLevel = (typeof levels)[number]
export type LogFormat = (typeof formats)[number]

export interface LoggerOptions {
  /** `log.level` */
  level: LogLevel
  /** `log.format` */
  format: LogFormat
  /** ms since 1970. */
  now(): number
  /** Takes a line with its end. Default: stderr. */
  write?(line: string): void
}

/** A logger of structured lines. */
export function lineLogger(options: LoggerOptions): Logger {
  const { level, format, now, write = toStderr } = options
  const least = levels.indexOf(level)
  const form = format === 'json' ? inJson : inLogfmt
  const at = (name: Exclude<LogLevel, 'off'>) =>
    levels.indexOf(name) < least
      ? () => {}
      : (line: string) => write(`${form(new Date(now()).toISOString(), name, line)}\n`)
  return { info: at('info'), warn: at('warn'), error: at('error') }
}

function toStderr(line: string): void {
  process.stderr.write(line)
}

function inJson(time: string, level: string, msg: string): string {
  return JSON.stringify({ time, level, msg })
}

/** The text in quotes, in which JSON's escapes keep it on one line. */
function inLogfmt(time: string, level: string, msg: string): string {
  return `time=${time} level=${level} msg=${JSON.stringify(msg)}`
}

/** Drops everything. */
export const silentLogger: Logger = { info() {}, warn() {}, error() {} }

/** One line an event on stderr, its level first. */
export const stderrLogger: Logger = {
  info: (line) => void process.stderr.write(`info ${line}\n`),
  warn: (line) => void process.stderr.write(`warn ${line}\n`),
  error: (line) => void process.stderr.write(`error ${line}\n`),
}

/** What an embedded broker uses unless it is given another: what went wrong, and no more. */
export const warningsLogger: Logger = { ...stderrLogger, info() {} }
