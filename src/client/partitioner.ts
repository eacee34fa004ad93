/**
 * Which partition a record goes to: by the hash of its key as Kafka's Java client computes it
 * (murmur2), so that a key goes to the same partition from whatever client; without a key, one
 * partition after the other, batch by batch.
 */

const SEED = 0x9747b28c
const M = 0x5bd1e995

/** MurmurHash2 as a signed number of 32 bits. */
export function murmur2(bytes: Uint8Array): number {
  const length = bytes.length
  let hash = SEED ^ length
  const whole = length & ~3
  for (let i = 0; i < whole; i += 4) {
    let k = bytes[i]! | (bytes[i + 1]! << 8) | (bytes[i + 2]! << 16) | (bytes[i + 3]! << 24)
    k = Math.imul(k, M)
    k ^= k >>> 24
    hash = Math.imul(hash, M) ^ Math.imul(k, M)
  }
  const rest = length & 3
  if (rest === 3) hash ^= bytes[whole + 2]! << 16
  if (rest >= 2) hash ^= bytes[whole + 1]! << 8
  if (rest >= 1) hash = Math.imul(hash ^ bytes[whole]!, M)
  hash = Math.imul(hash ^ (hash >>> 13), M)
  return hash ^ (hash >>> 15)
}

/** REQUIRES: `count` partitions, at least one. */
export function partitionOfKey(key: Uint8Array, count: number): number {
  return (murmur2(key) & 0x7fffffff) % count
}
