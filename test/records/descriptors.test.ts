/** What the codecs do in a process that has no descriptor left. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'

const compression = new URL('../../src/records/compression.js', import.meta.url).href

/** Uses up every descriptor, asks for a codec, frees them and asks again. */
const program = (codec: string) => `
  const { closeSync, openSync } = await import('node:fs')
  const { codecNamed } = await import('${compression}')
  const held = []
  try {
    for (;;) held.push(openSync('/dev/null', 'r'))
  } catch {}
  const ask = () => {
    try {
      return codecNamed('${codec}').compress(Buffer.from('text')).length > 0 ? 'done' : 'empty'
    } catch (error) {
      return error.code
    }
  }
  const without = ask()
  for (const fd of held) closeSync(fd)
  process.stdout.write(without + ' ' + ask())`

for (const codec of ['snappy', 'lz4', 'zstd']) {
  test(`${codec} that finds no descriptor to load with is not missing, and loads later`, () => {
    const told = execFileSync(
      '/bin/sh',
      [
        '-c',
        'ulimit -n 64 && exec "$0" "$@"',
        process.execPath,
        '--input-type=module',
        '-e',
        program(codec),
      ],
      { encoding: 'utf8' },
    )
    assert.match(told, /^(done|TOO_MANY_FILES) done$/)
    if (codec !== 'zstd') assert.match(told, /^TOO_MANY_FILES/)
  })
}
