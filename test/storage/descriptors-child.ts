/**
 * Run as a process of its own by descriptors.test.ts, with few descriptors to be had: argument 1 is
 * what it does, argument 2 a directory. Prints what it found as JSON.
 */
import { closeSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as soon } from 'node:timers/promises'
import { SeglogError } from '../../src/errors.js'
import { openLog } from '../../src/open-log.js'

const [, , what = '', directory = ''] = process.argv
const path = join(directory, 'log-0')
const options = { segmentBytes: 200 }
const value = Buffer.alloc(120, 7)

function held() {
  return {
    descriptors: readdirSync('/proc/self/fd').length,
    maps: readFileSync('/proc/self/maps', 'utf8').split('\n').length,
    rssBytes: process.memoryUsage.rss(),
  }
}

type Held = ReturnType<typeof held>

const maxOf = (a: Held, b: Held): Held => ({
  descriptors: Math.max(a.descriptors, b.descriptors),
  maps: Math.max(a.maps, b.maps),
  rssBytes: Math.max(a.rssBytes, b.rssBytes),
})

/** Each append rolls, and nothing else of the process runs meanwhile. */
async function rollAtOnce(count: number) {
  const log = await openLog(path, options)
  for (let i = 0; i < count; i++) log.append([{ value }])
  await log.flush()
  const end = Number(log.recoveryPoint)
  await log.close()
  const again = await openLog(path, options)
  let read = 0
  for await (const { offset } of again.read()) if (Number(offset) === read) read++
  await again.close()
  return { end, read, segments: again.report.segments }
}

/** What the process holds after 2,000 rolls, and at most in the 8,000 after them. */
async function rollOn() {
  const log = await openLog(path, options)
  let before = held()
  let most = before
  for (let i = 1; i <= 10_000; i++) {
    log.append([{ value }])
    if (i % 50 === 0) await soon()
    if (i === 2000) before = held()
    if (i > 2000 && i % 500 === 0) most = maxOf(most, held())
  }
  const segments = Number(log.endOffset)
  await log.close()
  const after = held()
  return { segments, before, most, after }
}

/** Takes every descriptor that is left, as a process full of sockets would. */
function takeAll(): number[] {
  const taken: number[] = []
  try {
    for (;;) taken.push(openSync('/dev/null', 'r'))
  } catch {
    return taken
  }
}

/** The code of the error that a call throws or rejects with. */
async function codeOf(call: () => unknown): Promise<string> {
  try {
    await call()
    return 'none'
  } catch (error) {
    return error instanceof SeglogError ? error.code : String(error)
  }
}

async function starve() {
  const log = await openLog(path, options)
  log.append([{ value }])
  let taken = takeAll()
  const roll = await codeOf(() => log.append([{ value }]))
  const opening = await codeOf(() => openLog(join(directory, 'other-0'), options))
  const end = Number(log.endOffset)
  for (const descriptor of taken) closeSync(descriptor)
  for (let i = 1; i < 100; i++) log.append([{ value }])
  await log.flush()
  taken = takeAll()
  // The oldest segment is not open any more, and takes the descriptor of another.
  const read = (log.slice(0, 1)?.sizeBytes ?? 0) > 0
  for (const descriptor of taken) closeSync(descriptor)
  await (await openLog(join(directory, 'other-0'), options)).close()
  await log.close()
  return { roll, opening, end, read, recovered: Number(log.recoveryPoint) }
}

const acts: Record<string, () => Promise<unknown>> = {
  'roll at once': () => rollAtOnce(1000),
  'roll on': rollOn,
  starve,
}
console.log(JSON.stringify(await acts[what]!()))
