/** The npm package classic-level: LevelDB, a tree of sorted files behind a log. */
import { join } from 'node:path'
import { CHUNK_BYTES, loadStore, type StoreKind } from './store.js'

interface Operation {
  type: 'put'
  key: Buffer
  value: Buffer
}

interface Values {
  nextv(size: number): Promise<Buffer[]>
  close(): Promise<void>
}

interface Level {
  open(): Promise<void>
  close(): Promise<void>
  put(key: Buffer, value: Buffer, options: { sync: boolean }): Promise<void>
  batch(operations: Operation[], options: { sync: boolean }): Promise<void>
  values(options: { highWaterMarkBytes: number; fillCache: boolean }): Values
}

interface ClassicLevel {
  ClassicLevel: new (
    path: string,
    options: { keyEncoding: 'buffer'; valueEncoding: 'buffer' },
  ) => Level
}

const READ_AT_ONCE = 1000

/** Keys are compared as bytes: big endian. */
function keyOf(number: number): Buffer {
  const key = Buffer.allocUnsafe(8)
  key.writeUInt32BE(0, 0)
  key.writeUInt32BE(number, 4)
  return key
}

export const classicLevel: StoreKind = {
  name: 'classic-level',
  note:
    'LevelDB; put, or batch for several, awaited; durable: the same with sync: true, which ' +
    'LevelDB groups where they overlap; read: values().nextv(1000)',
  package: 'classic-level',
  async open(directory, durable) {
    const { ClassicLevel: Class } = loadStore<ClassicLevel>('classic-level')
    const level = new Class(join(directory, 'records'), {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
    })
    await level.open()
    let next = 0
    const options = { sync: durable }
    const put = (values: readonly Buffer[]) => {
      if (values.length === 1) return level.put(keyOf(next++), values[0]!, options)
      const operations = values.map((value) => ({
        type: 'put' as const,
        key: keyOf(next++),
        value,
      }))
      return level.batch(operations, options)
    }
    return {
      append: put,
      appendDurable: put,
      appendAwaited: put,
      async read(visit) {
        const values = level.values({ highWaterMarkBytes: CHUNK_BYTES, fillCache: false })
        try {
          for (;;) {
            const some = await values.nextv(READ_AT_ONCE)
            if (some.length === 0) return
            for (const value of some) if (!visit(value)) return
          }
        } finally {
          await values.close()
        }
      },
      close: () => level.close(),
    }
  },
}
