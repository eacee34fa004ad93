/**
 * Takes the time of one workload in this process, by the npm package benchmark: it finds how many
 * calls fill a sample, and takes samples until the time is over. The result is nanoseconds per
 * operation, one number a sample.
 */
import Benchmark from 'benchmark'
import type { Workload } from './micro.js'

/** A sample is at least this long, so that the clock and the loop around the call do not count. */
const SAMPLE_SECONDS = 0.01
const SAMPLES_MIN = 5
const WARM_UP_MS = 20

/**
 * Runs until code is compiled and memory is warm. A run that waits for others is made at least
 * twice.
 */
async function warmUp(workload: Workload): Promise<void> {
  const end = performance.now() + WARM_UP_MS
  let runs = 0
  do {
    const pending = workload.run()
    if (workload.deferred) await pending
    runs++
  } while (performance.now() < end || runs < 2)
}

/** Nanoseconds per operation of each sample; `seconds` bounds all samples together. */
export async function measure(workload: Workload, seconds: number): Promise<number[]> {
  await warmUp(workload)
  const samples = await new Promise<readonly number[]>((resolve, reject) => {
    const benchmark = new Benchmark({
      defer: workload.deferred,
      maxTime: seconds,
      minTime: SAMPLE_SECONDS,
      minSamples: SAMPLES_MIN,
      fn: workload.deferred
        ? (deferred) => {
            Promise.resolve(workload.run()).then(() => deferred.resolve(), reject)
          }
        : () => {
            void workload.run()
          },
      onComplete: () => {
        if (benchmark.error || benchmark.aborted) {
          reject(new Error('the workload failed', { cause: benchmark.error }))
        } else {
          resolve(benchmark.stats.sample)
        }
      },
    })
    benchmark.run()
  })
  return samples.map((each) => (each * 1e9) / workload.operations)
}
