// `npm test`: builds what is missing, checks the form of the sources, fetches the foreign clients
// that the compatibility tests run, then runs the tests with node's own runner. Arguments select
// test files by a part of their path: `npm test -- storage/`.
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { lint } from './lint.mjs'
import { fail, root, setup } from './setup.mjs'

const USAGE = `usage: npm test -- [PART]...
  PART  runs the test files whose path contains it, such as storage/log; without one all of them,
        and checks the form of the sources before
exit code: 0 all passed, 1 one failed
`
if (process.argv.includes('--help') || process.argv.includes('-h')) {
  process.stdout.write(USAGE)
  process.exit(0)
}

setup()
const wanted = process.argv.slice(2)
if (wanted.length === 0) lint(false)
const files = readdirSync(join(root, 'test'), { recursive: true })
  .filter((name) => name.endsWith('.test.ts'))
  .filter((name) => wanted.length === 0 || wanted.some((part) => `test/${name}`.includes(part)))
  .sort()
  .map((name) => join('dist', 'test', name.replace(/\.ts$/, '.js')))
if (files.length === 0) fail(`no test file has ${wanted.join(' or ')} in its path`)
if (files.some((name) => name.includes('/compat/'))) {
  const { prepare } = await import('../dist/test/compat/prepare.js')
  await prepare().catch((error) => fail(error.message))
}

const runner = spawn(
  process.execPath,
  ['--enable-source-maps', '--test', '--test-concurrency=2', '--test-reporter=spec', ...files],
  { cwd: root, stdio: 'inherit' },
)
runner.on('exit', (code) => process.exit(code ?? 1))
