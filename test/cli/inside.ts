/** Subcommands within the process of a test, which is quicker than a child for each. */
import { PassThrough } from 'node:stream'
import type { Io } from '../../src/cli/output.js'

export interface Outcome {
  code: number
  stdout: string
  stderr: string
  /** Each line of stdout as JSON. */
  objects(): Record<string, unknown>[]
}

type Run = (args: string[], io: Io) => Promise<number>

/** Runs to the end; an error is thrown as the subcommand throws it. */
export async function inside(run: Run, args: string[]): Promise<Outcome> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const texts = [stdout, stderr].map((stream) => {
    const pieces: Buffer[] = []
    stream.on('data', (piece: Buffer) => pieces.push(piece))
    return () => Buffer.concat(pieces).toString('utf8')
  })
  const code = await run(args, { stdout, stderr })
  const [out = '', err = ''] = texts.map((text) => text())
  const objects = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { code, stdout: out, stderr: err, objects }
}

/** The same with the option that names a broker. */
export function against(run: Run, bootstrap: string) {
  return (...args: string[]) => inside(run, [...args, '--bootstrap-server', bootstrap])
}
