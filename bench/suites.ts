/** Every suite by its name on the command line. */
import { crc } from './crc.js'
import { log } from './log/suite.js'
import type { Suite } from './suite.js'

export const suites: ReadonlyMap<string, Suite> = new Map(
  [crc, log].map((suite) => [suite.name, suite]),
)
