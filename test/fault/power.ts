/**
 * What a loss of power leaves of a disk of shim.h. Of names: all that were synced, and of later
 * changes the first few in their order. Of bytes: what a file held when it was last synced, mixed
 * with what the process had written since by sectors that reach the disk in any order, at a size in
 * between. Space that was given to a file without its bytes reads as zeros, or as anything.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../protocol/random.js'

interface Change {
  verb: string
  name: string
  target: string
}

const SECTOR = 512
const PAGE = 4096

/** The changes of names in their order, and which of them were synced. */
function readJournal(path: string): { changes: Change[]; durable: Set<Change> } {
  const changes: Change[] = []
  const durable = new Set<Change>()
  const text = existsSync(path) ? readFileSync(path, 'latin1') : ''
  for (const line of text.slice(0, text.lastIndexOf('\n') + 1).split('\n')) {
    const [verb = '', name = '', target = ''] = line.split(' ')
    if (verb === 'D') {
      for (const change of changes) if (isIn(change, name)) durable.add(change)
    } else if (verb === 'C' || verb === 'R' || verb === 'U' || verb === 'M') {
      changes.push({ verb, name, target })
    }
  }
  return { changes, durable }
}

const parent = (name: string) => (name.includes('/') ? dirname(name) : '')
const isIn = ({ verb, name, target }: Change, folder: string) =>
  parent(verb === 'R' ? target : name) === folder

const FOLDER = 'folder'

/** Names and what they stand for: the id of a file, or a folder. */
function applied(changes: readonly Change[]): Map<string, string> {
  const names = new Map<string, string>()
  for (const { verb, name, target } of changes) {
    if (verb === 'M') names.set(name, FOLDER)
    else if (verb === 'C') names.set(name, target)
    else if (verb === 'U') names.delete(name)
    else if (verb === 'R') {
      for (const [old, id] of [...names]) {
        if (old !== name && !old.startsWith(`${name}/`)) continue
        names.delete(old)
        names.set(target + old.slice(name.length), id)
      }
    }
  }
  return names
}

/** Makes in `to` what is there when power comes back. */
export function losePower(disk: string, to: string, random: Random): void {
  const { changes, durable } = readJournal(join(disk, 'journal'))
  const open = changes.filter((change) => !durable.has(change))
  const kept = random.pick([0, open.length, random.below(open.length + 1)])
  const lucky = new Set(open.slice(0, kept))
  const left = applied(changes.filter((change) => durable.has(change) || lucky.has(change)))
  const liveNames = new Map([...applied(changes)].map(([name, id]) => [id, name]))
  mkdirSync(to, { recursive: true })
  for (const [name, id] of [...left].sort()) {
    const path = join(to, name)
    if (!existsSync(dirname(path))) continue
    if (id === FOLDER) {
      mkdirSync(path, { recursive: true })
      continue
    }
    const image = bytesOf(join(disk, 'image', id))
    const liveName = liveNames.get(id)
    const live = liveName === undefined ? image : bytesOf(join(disk, 'live', liveName))
    writeFileSync(path, mixed(image, live, random))
  }
}

const bytesOf = (path: string) => (existsSync(path) ? readFileSync(path) : Buffer.alloc(0))

function mixed(image: Buffer, live: Buffer, random: Random): Buffer {
  const how = random.below(4)
  if (how === 0) return image
  if (how === 1) return live
  const [low, high] = [Math.min(image.length, live.length), Math.max(image.length, live.length)]
  const size = random.pick([image.length, live.length, low + random.below(high - low + 1)])
  const bytes = Buffer.alloc(size)
  image.copy(bytes)
  if (random.chance(0.1)) bytes.fill(random.below(256), Math.min(image.length, size))
  const unit = random.pick([SECTOR, PAGE, PAGE])
  const chance = random.pick([0.1, 0.5, 0.9])
  for (let at = 0; at < size; at += unit) {
    if (at < live.length && random.chance(chance)) live.copy(bytes, at, at, at + unit)
  }
  return bytes
}

/** Puts what a loss of power left, which is durable by that, in the place of the disk's files. */
export function restorePower(disk: string, left: string): void {
  for (const name of ['live', 'image']) rmSync(join(disk, name), { recursive: true })
  renameSync(left, join(disk, 'live'))
  mkdirSync(join(disk, 'image'))
  const lines: string[] = []
  const folders = ['']
  let ids = 0
  for (let folder = folders.shift(); folder !== undefined; folder = folders.shift()) {
    for (const entry of readdirSync(join(disk, 'live', folder), { withFileTypes: true })) {
      const name = join(folder, entry.name)
      if (entry.isDirectory()) {
        lines.push(`M ${name}`)
        folders.push(name)
        continue
      }
      ids++
      lines.push(`C ${name} ${ids}`)
      copyFileSync(join(disk, 'live', name), join(disk, 'image', String(ids)))
    }
    lines.push(`D ${folder}`)
  }
  writeFileSync(join(disk, 'journal'), `${lines.join('\n')}\n`)
}
