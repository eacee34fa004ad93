/** That fetched records go from the file to the socket inside the kernel, as strace counts it. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { startBroker, temporaryFolder, until } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { consumeAll, produceFile, sha256 } from './strangers.js'

before(prepare)

/**
 * The sum of what the calls in a trace returned. A call that another one interrupts ends on a line
 * of its own.
 */
function bytesSent(trace: string): number {
  const results = trace.matchAll(/sendfile(?:64)?(?:\(| resumed>).*\) += (\d+)$/gm)
  return [...results].reduce((sum, match) => sum + Number(match[1]), 0)
}

test('fetched records leave by sendfile', { timeout: 90_000 }, async () => {
  const folder = temporaryFolder()
  const trace = join(folder, 'trace')
  const log = accessLog(50_000)
  writeFileSync(join(folder, 'access.log'), log)
  // As a grandchild (-D) strace leaves the broker the test's own child, which gets the test's
  // signals.
  const options = ['-D', '-f', '--seccomp-bpf', '-q', '-e', 'trace=sendfile', '-o', trace]
  const broker = await startBroker({ under: ['strace', ...options] })
  await produceFile(broker.bootstrap, 'traced', join(folder, 'access.log'))
  const before = bytesSent(readFileSync(trace, 'utf8'))
  const back = await consumeAll(broker.bootstrap, 'traced')
  assert.equal(sha256(back), sha256(log))
  assert.equal((await broker.stop()).code, 0)
  const ended = () => existsSync(trace) && /exited with 0/.test(readFileSync(trace, 'utf8'))
  await until('end of the trace', ended)
  const sent = bytesSent(readFileSync(trace, 'utf8')) - before
  assert.ok(sent >= log.length, `${sent} of ${log.length} bytes went by sendfile`)
})
