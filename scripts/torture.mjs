// `npm run torture`: builds what is missing, then lets the storage engine be killed, starved and
// cut off from power until the time is over. See test/fault/torture.ts for the options.
import { spawnSync } from 'node:child_process'
import { root, setup } from './setup.mjs'

const USAGE = `usage: npm run torture -- [OPTION]...
  --seconds N  for how long; 30 unless given
  --seed S     the round of this seed again, and nothing else
  --rounds N   so many rounds, from the seed on
  --no-power   crashes of the process and failing calls alone
  --go-on      goes on behind a fault, and tells each kind once, with its seeds
exit code: 0 nothing was lost, 1 a fault was found
`
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(USAGE)
  process.exit(0)
}

setup()
// A process of its own: an engine that takes its process with it is a finding too.
const { status, signal } = spawnSync(
  process.execPath,
  ['--enable-source-maps', 'dist/test/fault/torture.js', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
if (signal) console.error(`the engine ended its process: ${signal}; the seed is the last one above`)
process.exitCode = status ?? 1
