/**
 * The driver of kcat, and so of librdkafka: each command runs one, a member is one that stays. It
 * commits by itself what it has printed, every 5 seconds (kcat takes auto.commit.interval.ms for a
 * property of the topic, where it has no effect), so `commit` waits for that. kcat gives up when no
 * broker can be reached, and is then started anew.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { bootstrap, type Entry, serve, sleep, tellAssigned } from './serve.js'

const told = ['-f', 'record %p %o %k %s\n', '-u']

/** Runs one to its end and gives what it printed. */
function kcat(args: readonly string[], input = ''): Promise<string> {
  const child = spawn('kcat', ['-b', bootstrap, ...args])
  let [out, err] = ['', '']
  child.stdout.on('data', (bytes: Buffer) => {
    out += bytes
  })
  child.stderr.on('data', (bytes: Buffer) => {
    err += bytes
  })
  child.stdin.on('error', () => {})
  child.stdin.end(input)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(out)
      else reject(new Error(`kcat ${args.join(' ')} ended with ${code}: ${err}`))
    })
  })
}

async function topics(): Promise<string[]> {
  const { topics } = JSON.parse(await kcat(['-L', '-J'])) as { topics: { topic: string }[] }
  return topics.map(({ topic }) => topic)
}

/** Where it is not, kcat ends without having sent anything. */
function reachable(): Promise<boolean> {
  return kcat(['-L', '-J']).then(
    () => true,
    () => false,
  )
}

async function produce(topic: string, codec: string, records: Entry[]): Promise<void> {
  for (const partition of new Set(records.map((each) => each.partition))) {
    const lines = records
      .filter((each) => each.partition === partition)
      .map(({ key, value }) => `${key}|${value}\n`)
    const place = ['-P', '-t', topic, '-p', String(partition)]
    const args = [...place, '-z', codec, '-K', '|', '-X', 'enable.idempotence=true']
    while (!(await reachable())) await sleep(200)
    await kcat(args, lines.join(''))
  }
}

let member: ChildProcess | undefined
let left: Promise<unknown> | undefined
let leaving = false

function follow(group: string, topic: string, settings: readonly string[]): void {
  const child = spawn('kcat', ['-b', bootstrap, ...told, ...settings, '-G', group, topic])
  member = child
  left = new Promise<void>((resolve) => child.once('close', () => resolve()))
  void left.then(async () => {
    await sleep(200)
    if (!leaving) follow(group, topic, settings)
  })
  createInterface({ input: child.stdout }).on('line', (line) => console.log(line))
  const owned = new Set<number>()
  createInterface({ input: child.stderr }).on('line', (line) => {
    console.error(line)
    const change = /(incremental assign|incremental revo|assigned|revoked).*?: ?(.*)$/
    const [, how = '', list = ''] = change.exec(line) ?? []
    if (how === '') return
    const partitions = [...list.matchAll(/\[(\d+)\]/g)].map(([, number]) => Number(number))
    if (!how.startsWith('incremental')) owned.clear()
    for (const each of partitions) {
      if (how.endsWith('assign') || how === 'assigned') owned.add(each)
      else owned.delete(each)
    }
    tellAssigned([...owned])
  })
}

async function join(group: string, topic: string, assignor: string): Promise<void> {
  const settings = [
    'auto.offset.reset=earliest',
    'session.timeout.ms=6000',
    'heartbeat.interval.ms=500',
    'fetch.wait.max.ms=100',
    'check.crcs=true',
    `partition.assignment.strategy=${assignor}`,
  ]
  const options = settings.flatMap((each) => ['-X', each])
  follow(group, topic, options)
}

async function leave(): Promise<void> {
  leaving = true
  member?.kill('SIGTERM')
  await left
}

await serve({
  // Asked for by name, it is made as the broker's own settings say.
  create: async (topic) => {
    while (!(await topics()).includes(topic)) await kcat(['-L', '-t', topic])
  },
  topics,
  produce,
  consume: async (topic) => {
    process.stdout.write(
      await kcat(['-C', '-t', topic, '-e', '-q', '-X', 'check.crcs=true', ...told]),
    )
  },
  join,
  commit: () => sleep(5500),
  leave,
  close: leave,
})
