/** Waits until `condition` holds; fails after ten seconds. */
import assert from 'node:assert/strict'
import { setTimeout as delay } from 'node:timers/promises'

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
): Promise<void> {
  const endMs = performance.now() + 10_000
  while (!(await condition())) {
    assert.ok(performance.now() < endMs, `not in time: ${what}`)
    await delay(2)
  }
}
