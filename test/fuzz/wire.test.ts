/** The fuzzer of the wire for as long as a test may take; `npm run fuzz` runs it at length. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fuzzWire } from './wire.js'

const MIB = 1024

test('20,000 mutated requests leave a broker and its other clients as they were', {
  timeout: 120_000,
}, async () => {
  const report = await fuzzWire({ seed: 20_260_101, requests: 20_000, seconds: 6 })
  assert.deepEqual(report.faults, [])
  assert.ok(report.sent >= 1000, `${report.sent} were sent`)
  assert.ok(report.answered > report.sent / 2, `${report.answered} of ${report.sent} answered`)
  assert.ok(report.closedByBroker > 10, `${report.closedByBroker} connections closed`)
  assert.ok(report.steadyRounds > 10, `${report.steadyRounds} rounds beside them`)
  assert.ok(report.steadyMsMax < 5000, `the slowest took ${report.steadyMsMax} ms`)
  assert.ok(report.peakKiB < 400 * MIB, `${report.peakKiB} KiB resident`)
})
