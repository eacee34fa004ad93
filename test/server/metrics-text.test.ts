import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DurationHistogram, MetricsText, SECONDS } from '../../src/server/metrics-text.js'

test('a label may hold anything', () => {
  const text = new MetricsText().family('a', 'gauge', 'Help.')
  text.sample(1, { path: 'x"\\\ny', n: 2 }).sample(0.5)
  const lines = ['# HELP a Help.', '# TYPE a gauge', 'a{path="x\\"\\\\\\ny",n="2"} 1', 'a 0.5', '']
  assert.equal(text.toString(), lines.join('\n'))
})

test('buckets count all that is at or below their bound', () => {
  const histogram = new DurationHistogram()
  for (const ms of [0, 0.1, 1, 1.5, 20_000]) histogram.add(ms)
  const text = new MetricsText()
  histogram.write(text, { api: 'Fetch' })
  const lines = text.toString().split('\n')
  const count = (bound: string) =>
    lines.find((line) => line.includes(`le="${bound}"`))?.split(' ')[1]
  assert.deepEqual(['0.0001', '0.001', '0.0025', '10', '+Inf'].map(count), [
    '2',
    '3',
    '4',
    '4',
    '5',
  ])
  assert.ok(lines.includes('_count{api="Fetch"} 5'))
  assert.equal(lines.length - 1, SECONDS.length + 3)
  assert.equal(histogram.count, 5)
})
