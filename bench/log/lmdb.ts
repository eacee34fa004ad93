/** The npm package lmdb: a memory-mapped B+ tree, with the flag that the keys only rise. */
import { join } from 'node:path'
import { loadStore, type StoreKind } from './store.js'

interface Database {
  put(key: number, value: Buffer): Promise<boolean>
  putSync(key: number, value: Buffer, options: { append: boolean }): void
  transactionSync(callback: () => void): void
  getRange(): Iterable<{ key: number; value: Buffer }>
  transaction(callback: () => void): Promise<void>
  close(): Promise<void>
}

interface Lmdb {
  open(options: {
    path: string
    encoding: 'binary'
    noSync: boolean
    overlappingSync: boolean
  }): Database
}

const rising = { append: true }

export const lmdb: StoreKind = {
  name: 'lmdb',
  note:
    'noSync; putSync, or transactionSync for several; durable: put, or transaction for several, ' +
    'which resolve after commit and sync, and which lmdb groups into one commit where they ' +
    'overlap; read: getRange',
  package: 'lmdb',
  open(directory, durable) {
    const { open } = loadStore<Lmdb>('lmdb')
    // With overlappingSync a promise resolves before the sync, and durable would not be durable.
    const database = open({
      path: join(directory, 'records'),
      encoding: 'binary',
      noSync: !durable,
      overlappingSync: false,
    })
    let next = 0
    const putAll = (values: readonly Buffer[]) => {
      for (const value of values) database.putSync(next++, value, rising)
    }
    const putDurably = (values: readonly Buffer[]) => {
      if (values.length === 1) return database.put(next++, values[0]!)
      return database.transaction(() => {
        for (const value of values) void database.put(next++, value)
      })
    }
    return {
      append(values) {
        if (values.length === 1) putAll(values)
        else database.transactionSync(() => putAll(values))
      },
      appendDurable: putDurably,
      appendAwaited: putDurably,
      read(visit) {
        for (const { value } of database.getRange()) {
          if (!visit(value)) return
        }
      },
      close: () => database.close(),
    }
  },
}
