// The part of the npm package benchmark 2.1.4 that measure.ts uses; the package brings no types.
declare module 'benchmark' {
  namespace Benchmark {
    interface Deferred {
      resolve(): void
    }
    interface Options {
      defer: boolean
      /** Seconds that all samples together may take. */
      maxTime: number
      /** Seconds that one sample takes at least. */
      minTime: number
      minSamples: number
      fn(deferred: Deferred): void
      onComplete(): void
    }
  }
  class Benchmark {
    constructor(options: Benchmark.Options)
    readonly error?: unknown
    readonly aborted: boolean
    /** Seconds per call, one number for each sample. */
    readonly stats: { readonly sample: readonly number[] }
    run(): this
    abort(): this
  }
  export default Benchmark
}
