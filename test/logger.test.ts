import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { type LogFormat, type LogLevel, lineLogger, silentLogger } from '../src/logger.js'

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

/** What a logger of this level and form writes of one line each. */
function written(level: LogLevel, format: LogFormat): string[] {
  const lines: string[] = []
  const now = () => Date.UTC(2026, 0, 31, 12, 0, 0, 5)
  const logger = lineLogger({ level, format, now, write: (line) => lines.push(line) })
  logger.info('says "a"\n=b')
  logger.warn('w')
  logger.error('e')
  return lines
}

test('a line of logfmt has time, level and text, and stays one line', () => {
  const time = 'time=2026-01-31T12:00:00.005Z'
  assert.deepEqual(written('info', 'logfmt'), [
    `${time} level=info msg="says \\"a\\"\\n=b"\n`,
    `${time} level=warn msg="w"\n`,
    `${time} level=error msg="e"\n`,
  ])
})

test('a line of JSON has the same', () => {
  const [line = ''] = written('info', 'json')
  const expected = { time: '2026-01-31T12:00:00.005Z', level: 'info', msg: 'says "a"\n=b' }
  assert.deepEqual(JSON.parse(line), expected)
  assert.equal(line.indexOf('\n'), line.length - 1)
})

test('what is below the level is not written', () => {
  const counts = (['info', 'warn', 'error', 'off'] as const).map(
    (level) => written(level, 'json').length,
  )
  assert.deepEqual(counts, [3, 2, 1, 0])
})
