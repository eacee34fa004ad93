import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemEnv } from '../../src/env.js'
import { silentLogger } from '../../src/logger.js'
import { buildBatch } from '../../src/records/encoder.js'
import { Metrics } from '../../src/server/metrics.js'
import { batchOf, createTopic, fetchFrom, produceTo, startBroker } from '../support/broker.js'
import { temporaryDirectory } from '../support/tmp.js'
import { until } from '../support/until.js'
import { Wire } from '../support/wire.js'

const NOW = 1_700_000_000_000

/** A broker with metrics, and what its port answers. */
async function scene(
  t: TestContext,
  config: Record<string, string | number> = {},
  dataDir = temporaryDirectory(t),
) {
  const started = await startBroker(t, { dataDir, config: { 'metrics.port': 0, ...config } })
  const port = started.broker.metricsPort
  assert.ok(port !== undefined)
  /** Samples by name and labels, as the text has them. */
  const samples = async () => {
    const { body } = await get(port, '/metrics')
    const lines = body.split('\n').filter((line) => line !== '' && !line.startsWith('#'))
    return new Map(
      lines.map((line) => {
        const at = line.lastIndexOf(' ')
        return [line.slice(0, at), Number(line.slice(at + 1))] as const
      }),
    )
  }
  return { ...started, port, samples }
}

/** One exchange, as bytes. */
async function raw(port: number, request: string): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk
  })
  socket.on('error', () => {})
  socket.write(request)
  await once(socket, 'close')
  return text
}

async function get(port: number, path: string) {
  const text = await raw(port, `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
  const [head = '', body = ''] = text.split('\r\n\r\n')
  return { status: Number(head.split(' ')[1]), head, body }
}

test('without a port there are no metrics', async (t) => {
  const { broker } = await startBroker(t)
  assert.equal(broker.metricsPort, undefined)
})

test('requests are counted by API, with their bytes and times', async (t) => {
  const { wire, samples } = await scene(t)
  await createTopic(wire, 't')
  const batch = batchOf('a', 'b')
  for (let i = 0; i < 3; i++) await produceTo(wire, 't', batch)
  const found = await samples()
  assert.equal(found.get('seglog_requests_total{api="Produce"}'), 3)
  assert.equal(found.get('seglog_request_duration_seconds_count{api="Produce"}'), 3)
  assert.equal(found.get('seglog_request_duration_seconds_bucket{api="Produce",le="+Inf"}'), 3)
  const bytes = found.get('seglog_request_bytes_total{api="Produce"}') ?? 0
  assert.ok(bytes > 3 * batch.length && bytes < 3 * (batch.length + 100), `${bytes} bytes`)
  assert.equal(found.get('seglog_requests_in_flight'), 0)
  assert.equal(found.get('seglog_connections'), 1)
})

test('the bytes of records that leave by sendfile are counted', async (t) => {
  const { wire, samples } = await scene(t)
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('x'.repeat(100_000)))
  await fetchFrom(wire, 't', 0)
  const bytes = (await samples()).get('seglog_response_bytes_total{api="Fetch"}') ?? 0
  assert.ok(bytes > 100_000 && bytes < 101_000, `${bytes} bytes`)
})

test('a request that ends its connection is a failure, under a name that is bounded', async (t) => {
  const { broker, samples } = await scene(t)
  for (const key of [999, 998]) {
    const wire = await Wire.connect(t, broker.port)
    const frame = Buffer.alloc(8)
    frame.writeInt16BE(key, 0)
    wire.writeFrame(frame)
    await wire.closed
  }
  const found = await samples()
  assert.equal(found.get('seglog_request_failures_total{api="unknown"}'), 2)
  assert.equal(found.get('seglog_requests_in_flight'), 0)
})

test('partitions tell where they begin and end, and what they take', async (t) => {
  const { wire, samples } = await scene(t)
  await createTopic(wire, 't', { partitions: 2 })
  const batch = batchOf('a', 'b')
  await produceTo(wire, 't', batch, { partition: 1 })
  const found = await samples()
  assert.equal(found.get('seglog_topics'), 1)
  assert.equal(found.get('seglog_partitions'), 2)
  const of = (name: string) => found.get(`seglog_partition_${name}{topic="t",partition="1"}`)
  assert.deepEqual(
    ['log_start_offset', 'log_end_offset', 'high_watermark', 'size_bytes', 'segments'].map(of),
    [0, 2, 2, batch.length, 1],
  )
})

test('a log that cannot be compacted is counted and named until it can', async (t) => {
  const dataDir = temporaryDirectory(t)
  const { wire, samples } = await scene(t, { 'log.cleaner.backoff.ms': 5 }, dataDir)
  const configs = { 'cleanup.policy': 'compact', 'segment.bytes': '100' }
  for (const topic of ['bad', 'good']) await createTopic(wire, topic, { configs })
  assert.equal((await samples()).get('seglog_uncleanable_partitions'), 0)
  const keyed = () => buildBatch([{ key: 'k', value: 'v'.repeat(40) }], { timestamp: NOW })
  // A wrong byte in the one sealed segment, before a second one makes it worth its while.
  for (let i = 0; i < 2; i++) await produceTo(wire, 'bad', keyed())
  const path = join(dataDir, 'bad-0', '00000000000000000000.log')
  await until(() => readFileSync(path).length === keyed().length, 'sealed')
  const turn = () => {
    const bytes = readFileSync(path)
    bytes[bytes.length - 1]! ^= 1
    writeFileSync(path, bytes)
  }
  turn()
  for (const topic of ['bad', 'good']) {
    for (let i = 0; i < 4; i++) await produceTo(wire, topic, keyed())
  }
  const name = 'seglog_partition_uncleanable{topic="bad",partition="0"}'
  await until(async () => (await samples()).get(name) === 1, 'bad-0 named')
  assert.equal((await samples()).get('seglog_uncleanable_partitions'), 1)
  const size = async () =>
    (await samples()).get('seglog_partition_size_bytes{topic="good",partition="0"}') ?? 0
  await until(async () => (await size()) < 4 * keyed().length, 'good-0 compacted')
  turn()
  await until(
    async () => (await samples()).get('seglog_uncleanable_partitions') === 0,
    'tried again',
  )
  assert.equal((await samples()).get(name), undefined)
})

test('syncs to the disk are timed', async (t) => {
  const { wire, samples } = await scene(t, { 'log.flush.interval.messages': 1 })
  await createTopic(wire, 't')
  await produceTo(wire, 't', batchOf('a'))
  const found = await samples()
  assert.ok((found.get('seglog_log_flush_duration_seconds_count') ?? 0) >= 1)
})

test('every family has its help and type once, and every sample a number', async (t) => {
  const { wire, port } = await scene(t)
  await createTopic(wire, 't')
  const { head, body } = await get(port, '/metrics')
  assert.match(head, /Content-Type: text\/plain; version=0\.0\.4; charset=utf-8/)
  const families = [...body.matchAll(/^# TYPE (\S+) (?:counter|gauge|histogram)$/gm)]
  const names = families.map(([, name]) => name ?? '')
  assert.equal(new Set(names).size, names.length)
  const help = [...body.matchAll(/^# HELP (\S+) .+$/gm)].map(([, name]) => name)
  assert.deepEqual(help, names)
  for (const line of body.split('\n').filter((each) => each !== '' && !each.startsWith('#'))) {
    const [, sample = ''] = /^(\w+)(?:\{(?:\w+="[^"]*",?)+\})? -?[\d.e+-]+$/.exec(line) ?? []
    const family = sample.replace(/_(bucket|sum|count)$/, '')
    assert.ok(names.includes(sample) || names.includes(family), line)
    assert.match(sample, /^seglog_[a-z_]+$/)
  }
})

test('health and readiness have paths of their own', async (t) => {
  const { port } = await scene(t)
  const health = await get(port, '/health')
  assert.deepEqual([health.status, health.body], [200, '{"status":"alive"}\n'])
  const ready = await get(port, '/ready?verbose')
  assert.deepEqual([ready.status, ready.body], [200, '{"status":"ready"}\n'])
  assert.equal((await get(port, '/')).status, 404)
})

test('before clients are served, and after, it lives and is not ready', async (t) => {
  const endpoint = { host: '127.0.0.1', port: 0 }
  const metrics = await Metrics.open(endpoint, systemEnv, silentLogger)
  assert.ok(metrics)
  t.after(() => metrics.close())
  assert.equal((await get(metrics.port, '/health')).status, 200)
  const starting = await get(metrics.port, '/ready')
  assert.deepEqual([starting.status, starting.body], [503, '{"status":"starting"}\n'])
  assert.match((await get(metrics.port, '/metrics')).body, /^seglog_ready 0$/m)
  metrics.stopping()
  assert.equal((await get(metrics.port, '/ready')).body, '{"status":"stopping"}\n')
})

test('HEAD has the head alone, other methods are refused, nonsense is dropped', async (t) => {
  const { port } = await scene(t)
  const head = await raw(port, 'HEAD /health HTTP/1.0\r\n\r\n')
  assert.match(head, /^HTTP\/1\.1 200 OK\r\n.*Content-Length: 19\r\n.*\r\n\r\n$/s)
  const post = await raw(port, 'POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc')
  assert.match(post, /^HTTP\/1\.1 405 Method Not Allowed\r\n.*Allow: GET, HEAD/s)
  assert.equal(await raw(port, '\x00\x00\x00\x08nonsense\r\n\r\n'), '')
  assert.equal(await raw(port, 'GET /'.padEnd(10_000, 'x')), '')
})

test('the port is free again behind close', async (t) => {
  const { broker, port } = await scene(t)
  await broker.close()
  const socket = connect(port, '127.0.0.1')
  const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException]
  assert.equal(error.code, 'ECONNREFUSED')
})

test('a port that is taken refuses the start, and leaves nothing behind', async (t) => {
  const { port } = await scene(t)
  const start = startBroker(t, { config: { 'metrics.port': port } })
  await assert.rejects(start, {
    code: 'ADDRESS_IN_USE',
    message: `127.0.0.1:${port} is taken by another process`,
  })
})
