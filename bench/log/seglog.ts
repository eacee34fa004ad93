/** The library itself: a batch for each call. */
import { openLog } from '../../src/index.js'
import type { StoreKind } from './store.js'

export const seglog: StoreKind = {
  name: 'seglog',
  note:
    'openLog; append(records): one batch with CRC-32C and both indexes, in the page cache; ' +
    'durable: flushSync after it; awaited: appendDurable, which shares the fdatasync of a ' +
    'thread; read: readBatches()',
  async open(directory) {
    const log = await openLog(directory)
    return {
      append(values) {
        log.append(values.map((value) => ({ value })))
      },
      appendDurable(values) {
        log.append(values.map((value) => ({ value })))
        log.flushSync()
        return undefined
      },
      appendAwaited: (values) => log.appendDurable(values.map((value) => ({ value }))),
      async read(visit) {
        for await (const records of log.readBatches()) {
          for (const { value } of records) if (!visit(value!)) return
        }
      },
      close: () => log.close(),
    }
  },
}
