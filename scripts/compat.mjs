// `npm run compat`: builds what is missing, then puts clients that others wrote through one
// scenario, each against a broker of its own. See docs/compat.md, and test/compat/matrix/driver.ts
// for what a client has to do.
import { spawnSync } from 'node:child_process'
import { root, setup } from './setup.mjs'

const USAGE = `usage: npm run compat -- [OPTION]...
  --only NAME  the clients whose name contains it; may be given several times
  --jobs N     so many at the same time; 2 unless given
  --list       names the clients, and runs none
  --steps      tells each step with its time
exit code: 0 all passed, 1 one failed or could not be installed, 2 usage
`
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(USAGE)
  process.exit(0)
}

setup()
const { status } = spawnSync(
  process.execPath,
  ['--enable-source-maps', 'dist/test/compat/matrix/main.js', ...process.argv.slice(2)],
  { cwd: root, stdio: 'inherit' },
)
process.exitCode = status ?? 1
