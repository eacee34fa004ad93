/**
 * How a subcommand says that it was called wrongly: the message and the usage go to stderr, and the
 * exit code is 2.
 */
import { SeglogError } from '../errors.js'

export class UsageError extends SeglogError {
  /** What the subcommand takes, in lines. */
  readonly usage: string

  constructor(message: string, usage: string) {
    super('USAGE', message)
    this.usage = usage
  }
}
