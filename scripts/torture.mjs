// `npm run torture`: builds what is missing, then lets the storage engine be killed, starved and
// cut off from power until the time is over. See test/fault/torture.ts for the options.
import { spawnSync } from 'node:child_process'
import { root, setup } from './setup.mjs'

setup()
// A process of its own: an engine that takes its process with it is a finding too.
const { status, signal } = spawnSync(
  process.execPath,
  ['--enable-source-maps', 'dist/test/fault/torture.js', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
if (signal) console.error(`the engine ended its process: ${signal}; the seed is the last one above`)
process.exitCode = status ?? 1
