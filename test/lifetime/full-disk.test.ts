/**
 * A disk that is full: an error with a code, and nothing lost. The file system is one of 8 MiB in a
 * mount namespace that goes with its process; where none may be made, a limit on the size of files
 * takes its place.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { temporaryDirectory } from '../support/tmp.js'

const script = fileURLToPath(new URL('./full-disk-child.js', import.meta.url))
const MOUNT = 'mount -t tmpfs -o size=8m tmpfs "$0"'
const namespace = [
  ['unshare', '--mount'],
  ['unshare', '--mount', '--map-root-user'],
].find(([command = '', ...args]) => {
  return spawnSync(command, [...args, 'sh', '-c', MOUNT, tmpdir()]).status === 0
})

/** What the child printed; it must end by itself, with exit code 0, and warn of nothing else. */
function child(directory: string, what: string, warned = /^$/) {
  const [command = 'sh', ...args] = namespace ? [...namespace, 'sh'] : ['sh']
  const limit = namespace ? MOUNT : 'trap "" XFSZ; ulimit -f 8192'
  const line = `${limit} && exec "$1" "$2" "$3" "$0"`
  const { status, signal, stdout, stderr } = spawnSync(
    command,
    [...args, '-c', line, directory, process.execPath, script, what],
    { encoding: 'utf8', timeout: 60_000 },
  )
  assert.match(stderr, warned)
  assert.deepEqual({ status, signal }, { status: 0, signal: null })
  return JSON.parse(stdout)
}

for (const [valueBytes, how] of [
  ['65536', 'written'],
  ['100', 'copied into a mapping'],
] as const) {
  test(`a full disk refuses what is ${how}, and takes more when there is room`, (t) => {
    const expected = { code: 'NO_SPACE', allReadable: true, resumed: true, kept: true }
    assert.deepEqual(child(temporaryDirectory(t), valueBytes), expected)
  })
}

test('a broker on a full disk answers with a storage error, and serves when there is room', (t) => {
  // Told once, however often.
  const told = /^warn \S+: no space is left on the disk; what is to be appended is refused\n$/
  const answered = child(temporaryDirectory(t), 'broker', told)
  assert.deepEqual(answered, {
    made: 0,
    refused: 56,
    full: 56,
    retried: 0,
    errorCode: 0,
    baseOffset: 0,
    resumed: 0,
  })
})
