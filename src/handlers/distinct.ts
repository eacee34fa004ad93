/**
 * What a request names more than once is answered once where the answer is larger than the name:
 * otherwise a small request that repeats itself would ask for gigabytes.
 */
export function distinct<T>(items: readonly T[], keyOf: (item: T) => string): T[] {
  const seen = new Set<string>()
  return items.filter((item) => {
    const key = keyOf(item)
    if (seen.has(key)) return false
    seen.add(key)
    return true
  })
}
