/**
 * Runs trials. Each is a fresh process, so that no trial inherits compiled code, heap or open files
 * of another. In each round every contestant of a group has its turn, one after the other and
 * every other round backwards, so that whatever disturbs the machine for a while disturbs them
 * alike. Before each trial memory is warmed.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, unlinkSync, writeSync } from 'node:fs'
import { join } from 'node:path'

/** A process that prints one line of JSON; the last argument it gets is an empty directory. */
export interface Trial {
  /** Results are kept under this. */
  key: string
  command: string
  args: string[]
}

export interface Plan {
  /** Trials of one group are compared with each other: they alternate. */
  groups: readonly (readonly Trial[])[]
  rounds: number
  directory: string
  progress(done: number, total: number): void
}

const TRIAL_LIMIT_MS = 60_000
/** More than a trial has in the page cache at once. */
const WARM_BYTES = 384 << 20

/** A trial that outlived an interrupted bench would write into a directory that is gone. */
const running = new Set<ChildProcess>()

function parse(output: string, key: string): unknown {
  try {
    return JSON.parse(output)
  } catch {
    throw new Error(`the trial ${key} printed no JSON`)
  }
}

/**
 * Takes memory for page cache and gives it back. A virtual machine returns free memory to its host
 * within seconds, and the first to take it again pays up to ten times the price of a page: without
 * this, a trial would measure how long ago another one ended.
 */
function warmMemory(directory: string): void {
  const path = join(directory, 'warm')
  const chunk = Buffer.alloc(2 << 20, 1)
  const file = openSync(path, 'w')
  try {
    for (let done = 0; done < WARM_BYTES; done += chunk.length) writeSync(file, chunk)
  } finally {
    closeSync(file)
    unlinkSync(path)
  }
}

async function runTrial({ key, command, args }: Trial, directory: string): Promise<unknown> {
  const child = spawn(command, [...args, directory], { stdio: ['ignore', 'pipe', 'inherit'] })
  running.add(child)
  const timer = setTimeout(() => child.kill('SIGKILL'), TRIAL_LIMIT_MS)
  const code = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  try {
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    if ((await code) !== 0) throw new Error(`the trial ${key} failed`)
    return parse(output, key)
  } finally {
    clearTimeout(timer)
    running.delete(child)
  }
}

async function runGroups(plan: Plan, directory: string): Promise<Map<string, unknown[]>> {
  const { groups, rounds, progress } = plan
  const results = new Map<string, unknown[]>()
  const total = groups.reduce((sum, group) => sum + group.length, 0) * rounds
  let done = 0
  for (const group of groups) {
    for (let round = 0; round < rounds; round++) {
      for (const trial of round % 2 === 0 ? group : group.toReversed()) {
        progress(done++, total)
        const own = join(directory, String(done))
        mkdirSync(own)
        warmMemory(own)
        const result = await runTrial(trial, own)
        results.set(trial.key, [...(results.get(trial.key) ?? []), result])
        rmSync(own, { recursive: true, force: true })
      }
    }
  }
  progress(total, total)
  return results
}

/**
 * Runs every trial `rounds` times. The results stand under the key of the trial, in the order of
 * rounds. Rejects when a trial fails. Leaves no file, also where 'exit' comes first.
 */
export async function runTrials(plan: Plan): Promise<Map<string, unknown[]>> {
  const directory = mkdtempSync(join(plan.directory, 'seglog-bench-'))
  const remove = () => {
    for (const child of running) child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true, maxRetries: 5 })
  }
  process.once('exit', remove)
  try {
    return await runGroups(plan, directory)
  } finally {
    remove()
    process.off('exit', remove)
  }
}
