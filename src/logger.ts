/**
 * Lines for the operator, on stderr unless the embedder takes them. The level of a line is its
 * method.
 */
export interface Logger {
  info(line: string): void
  warn(line: string): void
  error(line: string): void
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
