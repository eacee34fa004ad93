/** Runs programs for tests, see programs.ts, and ends the process of a test file in any case. */
import { after } from 'node:test'

export * from './programs.js'

// A failed test may leave a child or a socket behind that would keep the process, and with it the
// whole run.
after(() => {
  setTimeout(() => {
    process.stderr.write('the tests are over, but something that they started still runs\n')
    process.exit(1)
  }, 15_000).unref()
})
