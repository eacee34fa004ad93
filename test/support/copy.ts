/**
 * Copies a folder that somebody writes to, as a crash would leave it. A file that is renamed
 * meanwhile is gone by the name that was listed: then the copy is made again.
 */
import { cpSync, rmSync } from 'node:fs'

const ATTEMPTS = 20

export function copyLive(from: string, to: string): void {
  for (let attempt = 1; ; attempt++) {
    try {
      cpSync(from, to, { recursive: true })
      return
    } catch (error) {
      const isGone = error instanceof Error && 'code' in error && error.code === 'ENOENT'
      if (!isGone || attempt === ATTEMPTS) throw error
      rmSync(to, { recursive: true, force: true })
    }
  }
}
