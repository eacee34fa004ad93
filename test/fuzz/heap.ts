/**
 * How many objects of each class a process of Node.js holds after a collection, from a heap
 * snapshot that it writes when it is told to by SIGUSR2.
 */
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

const SNAPSHOT_MS_MAX = 60_000
/** A class has grown with so many more objects, and with this share of those before. */
const GROWN_MIN = 120
const GROWN_SHARE = 0.3

/** What a process must be started with; `folder` is where its snapshots go. */
export function snapshotArguments(folder: string): string[] {
  return ['--heapsnapshot-signal=SIGUSR2', `--diagnostic-dir=${folder}`]
}

export type Objects = Map<string, number>

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } }
  nodes: number[]
  strings: string[]
}

function objectsOf({ snapshot, nodes, strings }: Snapshot): Objects {
  const { node_fields: fields, node_types: types } = snapshot.meta
  const [type, name] = [fields.indexOf('type'), fields.indexOf('name')]
  const object = types[0].indexOf('object')
  const found: Objects = new Map()
  for (let at = 0; at < nodes.length; at += fields.length) {
    if (nodes[at + type] !== object) continue
    const className = strings[nodes[at + name] ?? 0] ?? ''
    found.set(className, (found.get(className) ?? 0) + 1)
  }
  return found
}

/** Resolves with what the process holds. */
export async function heldObjects(pid: number, folder: string): Promise<Objects> {
  process.kill(pid, 'SIGUSR2')
  for (const end = performance.now() + SNAPSHOT_MS_MAX; performance.now() < end; ) {
    await sleep(200)
    const file = readdirSync(folder).find((each) => each.endsWith('.heapsnapshot'))
    const snapshot = file && parsed(join(folder, file))
    if (!file || !snapshot) continue
    rmSync(join(folder, file))
    return objectsOf(snapshot)
  }
  throw new Error(`no heap snapshot within ${SNAPSHOT_MS_MAX} ms`)
}

/** Undefined while the file is being written. */
function parsed(path: string): Snapshot | undefined {
  const text = readFileSync(path, 'utf8')
  if (!text.trimEnd().endsWith('}')) return undefined
  try {
    return JSON.parse(text) as Snapshot
  } catch {
    return undefined
  }
}

/** Classes of which there are many more objects than before. */
export function grown(before: Objects, after: Objects): string[] {
  return [...after].flatMap(([name, count]) => {
    const more = count - (before.get(name) ?? 0)
    const many = more >= GROWN_MIN && more >= (before.get(name) ?? 0) * GROWN_SHARE
    return many ? [`${more} more objects of ${name || 'no class'}: ${count}`] : []
  })
}
