/** What Apache Kafka's own reader says to the records of groups that the broker wrote. */
import assert from 'node:assert/strict'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { startBroker, temporaryFolder } from './harness.js'
import { accessLog } from './lines.js'
import { prepare } from './prepare.js'
import { kafkaTool, kcat } from './strangers.js'

before(prepare)

test('commits and groups decode as those of Kafka', { timeout: 120_000 }, async () => {
  const dataDir = join(temporaryFolder(), 'data')
  const config = { 'offsets.topic.num.partitions': 1 }
  const broker = await startBroker({ dataDir, config })
  await kcat(broker.bootstrap, ['-P', '-t', 'read'], { input: accessLog(100) })
  const earliest = ['-X', 'auto.offset.reset=earliest']
  const args = ['-G', 'readers', ...earliest, '-c', '100', '-q', 'read']
  assert.equal((await kcat(broker.bootstrap, args)).text.trimEnd().split('\n').length, 100)
  assert.equal((await broker.stop()).code, 0)

  const folder = join(dataDir, '__consumer_offsets-0')
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
  const files = logs.map((name) => join(folder, name)).filter((path) => statSync(path).size > 0)
  const dumped = await kafkaTool('org.apache.kafka.tools.DumpLogSegments', [
    '--offsets-decoder',
    '--files',
    files.join(),
  ])
  assert.match(dumped.text, /"group":"readers","topic":"read","partition":0/)
  assert.match(dumped.text, /"offset":100,/)
  assert.match(dumped.text, /"protocolType":"consumer"/)
  assert.doesNotMatch(dumped.text, /UnsupportedVersion|rror/)
})
