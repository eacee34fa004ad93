/**
 * Run as a process of its own by index-damage.test.ts: opens the log of argument 1, after a clean
 * stop or not as argument 2 says, and prints what that took.
 */
import { Log } from '../../src/storage/log.js'
import { NOW, small } from './log-fixture.js'

const [, , directory = '', clean = ''] = process.argv
const options = { ...small, segmentBytes: 256 * 1024 * 1024, indexIntervalBytes: 4096 }
const peakBytes = () => process.resourceUsage().maxRSS * 1024

const before = peakBytes()
const log = await Log.open(directory, { ...options, clean: clean === 'true' }, NOW)
const grownBytes = peakBytes() - before
console.log(JSON.stringify({ end: log.endOffset, rebuilt: log.report.rebuiltIndexes, grownBytes }))
await log.close()
