/** The npm package better-sqlite3: SQLite with a write-ahead log. */
import { join } from 'node:path'
import { loadStore, type StoreKind } from './store.js'

interface Statement {
  run(...parameters: unknown[]): unknown
  all(...parameters: unknown[]): unknown[]
  pluck(): Statement
}

interface Database {
  pragma(text: string): unknown
  exec(text: string): unknown
  prepare(text: string): Statement
  transaction<Args extends unknown[]>(body: (...args: Args) => void): (...args: Args) => void
  close(): void
}

type BetterSqlite3 = new (path: string) => Database

const READ_AT_ONCE = 1000

export const betterSqlite3: StoreKind = {
  name: 'better-sqlite3',
  note:
    'WAL; a prepared insert into (seq INTEGER PRIMARY KEY, value BLOB), in a transaction for ' +
    'several; synchronous = NORMAL, which syncs at checkpoints only; durable: FULL; read: ' +
    'pages of 1000 rows',
  package: 'better-sqlite3',
  open(directory, durable) {
    const database = new (loadStore<BetterSqlite3>('better-sqlite3'))(join(directory, 'records.db'))
    database.pragma('journal_mode = WAL')
    database.pragma(`synchronous = ${durable ? 'FULL' : 'NORMAL'}`)
    database.exec('CREATE TABLE records (seq INTEGER PRIMARY KEY, value BLOB NOT NULL)')
    const insert = database.prepare('INSERT INTO records VALUES (?, ?)')
    const page = database
      .prepare('SELECT value FROM records WHERE seq >= ? ORDER BY seq LIMIT ?')
      .pluck()
    let next = 0
    const insertAll = database.transaction((values: readonly Buffer[]) => {
      for (const value of values) insert.run(next++, value)
    })
    const append = (values: readonly Buffer[]): undefined => {
      if (values.length === 1) insert.run(next++, values[0])
      else insertAll(values)
    }
    return {
      append,
      appendDurable: append,
      read(visit) {
        for (let from = 0; from < next; from += READ_AT_ONCE) {
          const values = page.all(from, READ_AT_ONCE) as Buffer[]
          for (const value of values) if (!visit(value)) return
        }
      },
      close: () => database.close(),
    }
  },
}
