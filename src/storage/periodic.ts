/**
 * Work that comes round: a task runs, and again so many ms after it ended, until it is stopped. One
 * run that fails is told to `warn` and changes nothing else: the next one comes all the same.
 */
import type { Env, Timer } from '../env.js'

export interface Task {
  /** What it does, for the line that says that it failed. */
  readonly name: string
  /** Pause between the end of a run and the next one, ms. */
  readonly everyMs: number
  run(): Promise<void>
}

export class Periodic {
  readonly #env: Env
  readonly #warn: (line: string) => void
  readonly #timers = new Map<Task, Timer>()
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(env: Env, warn: (line: string) => void) {
    this.#env = env
    this.#warn = warn
  }

  /** The first run is one pause away. */
  start(task: Task): void {
    if (this.#stopped) return
    this.#timers.set(
      task,
      this.#env.after(task.everyMs, () => this.#run(task)),
    )
  }

  /** No run begins any more; resolves when those under way have ended. */
  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#timers.values()) timer.cancel()
    this.#timers.clear()
    await Promise.all(this.#running)
  }

  #run(task: Task): void {
    const run = this.#attempt(task).then(() => {
      this.#running.delete(run)
      this.start(task)
    })
    this.#running.add(run)
  }

  async #attempt({ name, run }: Task): Promise<void> {
    try {
      await run()
    } catch (error) {
      this.#warn(`${name} failed: ${error instanceof Error ? error.message : error}`)
    }
  }
}
