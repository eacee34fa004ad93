import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { silentLogger } from '../src/logger.js'

test('lines go to stderr with their level, one each', () => {
  const module = new URL('../src/logger.js', import.meta.url).href
  const code = `import { stderrLogger as log } from '${module}'
    log.info('a'); log.warn('b'); log.error('c')`
  const args = ['--input-type=module', '--eval', code]
  const { stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.deepEqual([stdout, stderr], ['', 'info a\nwarn b\nerror c\n'])
})

test('the silent one says nothing', () => {
  for (const level of ['info', 'warn', 'error'] as const) {
    assert.equal(silentLogger[level]('line'), undefined)
  }
})
