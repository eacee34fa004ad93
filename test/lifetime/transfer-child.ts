/**
 * Run as a process of its own by transfer.test.ts. Argument 1 names the way in which an environment
 * ends while a transfer is pending in it, argument 2 is a file to send. The same file is the worker
 * that does the sending.
 */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { native } from '../../src/native.js'
import { Slice, sendParts } from '../../src/storage/slice.js'

const options = {
  readOnly: true,
  recover: false,
  segmentBytes: 1 << 30,
  indexIntervalBytes: 4096,
  mapped: false,
}

/** A reader that does not read, and transfers to it: one under way and one behind it. */
async function stall(path: string): Promise<{ sender: Socket; reader: Socket }> {
  const { handle } = await native.segmentOpen(path, 0, options)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const reader = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  const [sender] = (await once(server, 'connection')) as [Socket]
  server.close()
  sender.on('error', () => {})
  const slice = new Slice(handle, 0, 16 * 1024 * 1024)
  for (const parts of [[slice], [Buffer.alloc(100_000), slice]]) {
    sendParts(sender, parts)?.catch(() => {})
  }
  return { sender, reader }
}

async function worker(path: string, ending: string): Promise<void> {
  const thread = new Worker(new URL(import.meta.url), { workerData: { path, ending } })
  thread.on('error', () => {})
  // Not `once`, which an 'error' would reject.
  const exited = new Promise((resolve) => thread.once('exit', resolve))
  if (ending === 'terminate') {
    await once(thread, 'message')
    await thread.terminate()
  }
  await exited
}

async function main(ending: string, path: string): Promise<void> {
  if (ending === 'terminate' || ending === 'throw') {
    for (let round = 0; round < 5; round++) await worker(path, ending)
    // The process is well, and its own environment too.
    console.log(`pending ${native.transferPending()}`)
    return
  }
  const { sender, reader } = await stall(path)
  console.log(`pending ${native.transferPending()}`)
  if (ending === 'exit') process.exit(0)
  if (ending === 'close') [sender, reader].map((socket) => socket.destroy())
  if (ending === 'callback') {
    process.on('uncaughtException', (error) => {
      console.log(error.message)
      process.exit(0)
    })
    const fd = Reflect.get(Reflect.get(reader, '_handle'), 'fd')
    native.transferSend(fd, [Buffer.alloc(16 * 1024 * 1024)], () => {
      throw new Error('thrown by the callback')
    })
    sender.resume()
  }
}

if (isMainThread) await main(process.argv[2] ?? '', process.argv[3] ?? '')
else {
  const { path, ending } = workerData as { path: string; ending: string }
  await stall(path)
  parentPort?.postMessage(native.transferPending())
  if (ending === 'throw') throw new Error('the end of this worker')
}
