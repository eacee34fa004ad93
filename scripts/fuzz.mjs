// `npm run fuzz`: builds what is missing, then sends mutated requests to a broker until as many are
// sent as are wanted. See test/fuzz/wire.ts for what is a fault.
import { spawnSync } from 'node:child_process'
import { root, setup } from './setup.mjs'

const USAGE = `usage: npm run fuzz -- [OPTION]...
  --requests N  so many requests; 1,000,000 unless given
  --seconds S   for so long at most; 3600 unless given
  --seed X      the requests of this seed; by chance unless given
exit code: 0 no fault was found, 1 one was found
`
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(USAGE)
  process.exit(0)
}

setup()
const { status } = spawnSync(
  process.execPath,
  ['--enable-source-maps', 'dist/test/fuzz/main.js', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
