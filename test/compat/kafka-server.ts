/**
 * Apache Kafka as a server: 4.3.1 on its own, 3.6.2 with a ZooKeeper. Each lives in a folder that
 * the test gives, so that it can be stopped, its files looked at or changed, and started again.
 */
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { type Exit, type Running, sleep, start, until, within } from './programs.js'
import { javaArguments, kafkaTool } from './strangers.js'

export interface Server {
  readonly port: number
  readonly bootstrap: string
  /** Ends it in good order. */
  stop(): Promise<Exit>
  /** Ends it by SIGKILL. */
  kill(): Promise<Exit>
}

type Settings = Readonly<Record<string, string | number>>

const START_MS = 60_000

/** A port that is free now. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

function write(path: string, settings: Settings): string {
  const lines = Object.entries(settings).map(([key, value]) => `${key}=${value}\n`)
  writeFileSync(path, lines.join(''))
  return path
}

async function serving(running: Running, port: number, what: string): Promise<Server> {
  let ended = false
  void running.exited.finally(() => {
    ended = true
  })
  await until(`${what} on ${port}`, async () => ended || accepts(port), START_MS)
  if (ended) throw new Error(`${what} ended:\n${running.stdout()}${running.stderr()}`)
  const end = (signal: NodeJS.Signals) => {
    running.child.kill(signal)
    return within(running, START_MS)
  }
  return {
    port,
    bootstrap: `127.0.0.1:${port}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

const single: Settings = {
  'offsets.topic.replication.factor': 1,
  'offsets.topic.num.partitions': 1,
  'transaction.state.log.replication.factor': 1,
  'transaction.state.log.min.isr': 1,
  'transaction.state.log.num.partitions': 1,
  'group.initial.rebalance.delay.ms': 0,
}

/** Kafka 4.3.1, controller and broker in one; its log directory is `data` in the folder. */
export async function startKafka4(folder: string, settings: Settings = {}): Promise<Server> {
  const [port, controllerPort] = [await freePort(), await freePort()]
  mkdirSync(folder, { recursive: true })
  const file = write(join(folder, 'server.properties'), {
    'process.roles': 'broker,controller',
    'node.id': 1,
    'controller.quorum.voters': `1@127.0.0.1:${controllerPort}`,
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}`,
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': join(folder, 'data'),
    ...single,
    ...settings,
  })
  if (!existsSync(join(folder, 'data', 'meta.properties'))) {
    const id = randomBytes(16).toString('base64url').replace(/^-/, 'A')
    await kafkaTool('kafka.tools.StorageTool', ['format', '-t', id, '-c', file])
  }
  const running = start('java', javaArguments('kafka.Kafka', [file]))
  return serving(running, port, 'Kafka 4.3.1')
}

/** ZooKeeper as Kafka 3.6.2 brings it. */
export async function startZooKeeper(folder: string): Promise<Server> {
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const file = write(join(folder, 'zoo.cfg'), {
    tickTime: 500,
    dataDir: join(folder, 'data'),
    clientPort: port,
    clientPortAddress: '127.0.0.1',
    'admin.enableServer': 'false',
  })
  const main = 'org.apache.zookeeper.server.quorum.QuorumPeerMain'
  return serving(start('java', javaArguments(main, [file], '3.6.2')), port, 'ZooKeeper')
}

/** Kafka 3.6.2 or 0.8.2.2 as broker 0; its log directory is `data` in the folder. */
export async function startKafkaOnZooKeeper(
  version: '3.6.2' | '0.8.2.2',
  folder: string,
  zooKeeper: Server,
  settings: Settings = {},
): Promise<Server> {
  const port = await freePort()
  mkdirSync(folder, { recursive: true })
  const old = { port, 'host.name': '127.0.0.1', 'advertised.host.name': '127.0.0.1' }
  const place = version === '3.6.2' ? { listeners: `PLAINTEXT://127.0.0.1:${port}` } : old
  const file = write(join(folder, 'server.properties'), {
    'broker.id': 0,
    ...place,
    'log.dirs': join(folder, 'data'),
    'zookeeper.connect': zooKeeper.bootstrap,
    // Long, since a machine under load keeps a session waiting.
    'zookeeper.session.timeout.ms': 12_000,
    ...(version === '3.6.2' ? single : {}),
    ...settings,
  })
  for (let attempt = 1; ; attempt++) {
    const running = start('java', javaArguments('kafka.Kafka', [file], version))
    try {
      return await serving(running, port, `Kafka ${version}`)
    } catch (error) {
      // What a kill left of it in ZooKeeper goes with its session.
      if (attempt === 8 || !String(error).includes('NodeExists')) throw error
      await sleep(3000)
    }
  }
}
