/** A process ends by itself once its logs and brokers are closed, and well where they are not. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const script = fileURLToPath(new URL('./exit-child.js', import.meta.url))

for (const [what, printed, sentence] of [
  ['broker closed', 'done\n', 'a process ends by itself after its broker was closed'],
  ['broker open', '', 'a process that exits with a broker open ends well'],
  ['log closed', 'done\n', 'a process ends by itself after its log was closed'],
  ['log open', 'done\n', 'a log that nobody closed does not keep its process alive'],
] as const) {
  test(sentence, () => {
    const options = { encoding: 'utf8', timeout: 20_000 } as const
    const { status, signal, stdout, stderr } = spawnSync(process.execPath, [script, what], options)
    assert.deepEqual(
      { status, signal, stdout, stderr },
      { status: 0, signal: null, stdout: printed, stderr: '' },
    )
  })
}
