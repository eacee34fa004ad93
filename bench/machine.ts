/** What a reader must know of the machine to judge a figure. */
import { readFileSync, statfsSync } from 'node:fs'
import { arch, cpus, release, totalmem } from 'node:os'
import { resolve } from 'node:path'

export interface Machine {
  cpu: string
  cores: number
  arch: string
  kernel: string
  node: string
  memoryBytes: number
}

export function machine(): Machine {
  const all = cpus()
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    arch: arch(),
    kernel: release(),
    node: process.version,
    memoryBytes: totalmem(),
  }
}

export interface FileSystem {
  type: string
  device: string
  options: string
  freeBytes: number
}

/** The file system that holds a directory: the longest mount point above it. */
export function fileSystemOf(directory: string): FileSystem {
  const path = resolve(directory)
  let best = { point: '', type: 'unknown', device: 'unknown', options: '' }
  for (const line of readFileSync('/proc/self/mounts', 'utf8').split('\n')) {
    const [device = '', point = '', type = '', options = ''] = line.split(' ')
    const above = point === '/' || path === point || path.startsWith(`${point}/`)
    // Of two mounts on one point the later one is seen.
    if (above && point.length >= best.point.length) best = { point, type, device, options }
  }
  const { bavail, bsize } = statfsSync(path)
  const { type, device, options } = best
  return { type, device, options, freeBytes: bavail * bsize }
}

/** Kept in memory: nothing that is written there reaches a disk. */
const MEMORY = new Set(['tmpfs', 'ramfs'])
/** Mount options with which a sync returns before the drive has emptied its cache. */
const NO_BARRIER = new Set(['nobarrier', 'barrier=0', 'barrier=none'])

/** Why figures of a file system are not those of a disk that keeps what was synced. */
export function flagsOf({ type, options }: Pick<FileSystem, 'type' | 'options'>): string[] {
  const flags: string[] = []
  if (MEMORY.has(type)) flags.push(`NOTE: ${type} is memory, not a disk: choose another --dir`)
  for (const option of options.split(',')) {
    if (!NO_BARRIER.has(option)) continue
    flags.push(
      `NOTE: ${option}: a sync does not wait for the drive, durable figures are not durable`,
    )
  }
  return flags
}
