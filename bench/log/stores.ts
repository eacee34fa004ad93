/** Every store that takes part; the first one is compared with each of the others. */
import { betterSqlite3 } from './better-sqlite3.js'
import { classicLevel } from './classic-level.js'
import { lmdb } from './lmdb.js'
import { plainFile } from './plain-file.js'
import { seglog } from './seglog.js'
import type { StoreKind } from './store.js'

export const stores: readonly StoreKind[] = [seglog, lmdb, classicLevel, betterSqlite3, plainFile]

/** The store of that name. A wrong name is a caller's mistake. */
export function storeNamed(name: string): StoreKind {
  const found = stores.find((store) => store.name === name)
  if (!found) throw new Error(`no store ${name}`)
  return found
}
