import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { BrokerConfig, TopicConfig } from '../../src/config.js'
import { systemEnv } from '../../src/env.js'
import { Replicas } from '../../src/replication/replicas.js'
import { LogManager } from '../../src/storage/log-manager.js'
import { defaultLogOptions } from '../../src/storage/log-options.js'
import { temporaryDirectory } from '../support/tmp.js'

const ID = 'bwAAAAAAAAAAAAAAAAAAAA'
const OTHER = 'bwEAAAAAAAAAAAAAAAAAAA'
const config = TopicConfig.parse({}, BrokerConfig.parse({}, assert.fail))

async function fixture(t: TestContext) {
  const directory = temporaryDirectory(t)
  const { clean: _, ...log } = defaultLogOptions
  const options = { directories: [directory], brokerId: 0, log, warn: assert.fail }
  const logs = await LogManager.open(options, systemEnv)
  t.after(() => logs.abandon())
  return { directory, logs, replicas: new Replicas(logs) }
}

test('a topic is found by name, by id and by partition once it is served', async (t) => {
  const { replicas } = await fixture(t)
  const served = await replicas.serve('t', ID, 3, config)
  assert.equal(replicas.topic('t'), served)
  assert.equal(replicas.topicById(ID), served)
  assert.equal(replicas.partition('t', 2)?.index, 2)
  for (const index of [-1, 3, 1.5]) assert.equal(replicas.partition('t', index), undefined)
  assert.deepEqual([...replicas.topics()], [served])
})

test('a topic that grows keeps the partitions that it had', async (t) => {
  const { replicas } = await fixture(t)
  const first = (await replicas.serve('t', ID, 1, config)).partitions[0]
  const { partitions } = await replicas.serve('t', ID, 3, config)
  assert.equal(partitions.length, 3)
  assert.equal(partitions[0], first)
})

test('a topic with another id under the same name is refused', async (t) => {
  const { replicas } = await fixture(t)
  await replicas.serve('t', ID, 1, config)
  await assert.rejects(replicas.serve('t', OTHER, 1, config), /another id/)
})

test('a removed topic is told to those who wait, and leaves no folder', async (t) => {
  const { replicas, directory } = await fixture(t)
  const { partitions } = await replicas.serve('t', ID, 2, config)
  let gone = 0
  const seen: unknown[] = []
  for (const partition of partitions) {
    partition?.watch({
      appended() {},
      gone() {
        gone++
        seen.push(replicas.topic('t'))
      },
    })
  }
  await replicas.remove('t')
  assert.deepEqual([gone, seen], [2, [undefined, undefined]])
  assert.equal(replicas.topicById(ID), undefined)
  assert.equal(existsSync(join(directory, 't-0')), false)
  await replicas.remove('t')
})

test('a topic of which one log cannot be made leaves neither logs nor folders', async (t) => {
  const { replicas, directory, logs } = await fixture(t)
  const before = readdirSync('/proc/self/fd').length
  await assert.rejects(replicas.serve('t', 'no id', 3, config))
  assert.equal(replicas.topic('t'), undefined)
  assert.equal(logs.topics().size, 0)
  assert.deepEqual(
    readdirSync(directory).filter((name) => /^t-\d$/.test(name)),
    [],
  )
  assert.equal(readdirSync('/proc/self/fd').length, before)
  await replicas.serve('t', ID, 3, config)
})

test('close wakes all who wait and closes every log', async (t) => {
  const { replicas } = await fixture(t)
  const { partitions } = await replicas.serve('t', ID, 2, config)
  let gone = 0
  for (const partition of partitions) partition?.watch({ appended() {}, gone: () => gone++ })
  await replicas.close()
  assert.equal(gone, 2)
  assert.throws(() => partitions[0]?.read(0, 1), /closed/)
})

test('a stop ends the making of a large topic early', async (t) => {
  const { replicas } = await fixture(t)
  const serving = replicas.serve('t', ID, 2000, config)
  replicas.stopMaking()
  await assert.rejects(serving, { code: 'CLOSED' })
  assert.equal(replicas.topic('t'), undefined)
})
