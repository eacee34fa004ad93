import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { seglog } from './program.js'

const files = ['broker', 'dump', 'verify', 'repair']
const names = [...files, 'topics', 'produce', 'consume', 'groups', 'configs']

test('without a subcommand the usage goes to stderr, with exit code 2', async (t) => {
  const program = seglog(t, [])
  assert.equal(await program.exited, 2)
  assert.match(program.stderr(), /^usage: seglog broker/)
  assert.equal(program.stdout(), '')
})

test('help is what was asked for', async (t) => {
  for (const word of ['help', '--help', '-h']) {
    const program = seglog(t, [word])
    assert.equal(await program.exited, 0)
    assert.match(program.stdout(), /^usage: seglog broker/)
  }
})

test('help of a subcommand is what the subcommand says with --help', async (t) => {
  for (const name of names) {
    const program = seglog(t, ['help', name])
    assert.equal(await program.exited, 0)
    assert.match(program.stdout(), new RegExp(`^usage: seglog ${name} .*\\n  `))
  }
  const program = seglog(t, ['help', 'brokre'])
  assert.equal(await program.exited, 2)
  assert.match(program.stderr(), /there is no subcommand brokre/)
})

test('an option that a subcommand does not have is named, without advice', async (t) => {
  for (const name of names) {
    const program = seglog(t, [name, '--nothing'])
    assert.equal(await program.exited, 2)
    assert.match(program.stderr(), /^usage: [\s\S]*\nseglog: Unknown option '--nothing'\n$/)
  }
})

test('a subcommand that does not exist is named', async (t) => {
  const program = seglog(t, ['brokre'])
  assert.equal(await program.exited, 2)
  assert.match(program.stderr(), /there is no subcommand brokre/)
})

test('--version prints that of the package', async (t) => {
  const program = seglog(t, ['--version'])
  assert.equal(await program.exited, 0)
  const file = new URL('../../../package.json', import.meta.url)
  assert.equal(program.stdout(), `${JSON.parse(readFileSync(file, 'utf8')).version}\n`)
})

test('an option that does not exist is named', async (t) => {
  const program = seglog(t, ['--nothing'])
  assert.equal(await program.exited, 2)
  assert.match(program.stderr(), /^usage: [\s\S]*\nseglog: there is no option --nothing\n$/)
})
