/** The command line as a child process. */
import { type ChildProcess, spawn } from 'node:child_process'
import type { TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { until } from '../support/until.js'

/** The compiled program. */
export const main = fileURLToPath(new URL('../../src/cli/main.js', import.meta.url))

export interface Program {
  child: ChildProcess
  stdout(): string
  stderr(): string
  /** Code, or the signal that ended it. */
  exited: Promise<number | string | null>
}

/** Ended with the test, if it has not ended by itself. */
export function seglog(t: TestContext, args: string[], cwd?: string): Program {
  const child = spawn(process.execPath, [main, ...args], { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
  t.after(() => child.kill('SIGKILL'))
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk) => {
    stdout += chunk
  })
  child.stderr.on('data', (chunk) => {
    stderr += chunk
  })
  const exited = new Promise<number | string | null>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? signal))
  })
  return { child, stdout: () => stdout, stderr: () => stderr, exited }
}

/** Waits for the line that says that a broker serves, and gives its port. */
export async function ready({ stdout }: Program): Promise<number> {
  await until(() => stdout().includes('\n'), 'the line that says ready')
  return Number(/ready on 127\.0\.0\.1:(\d+) /.exec(stdout())?.[1])
}
