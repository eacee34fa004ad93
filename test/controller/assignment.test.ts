import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assignReplicas } from '../../src/controller/assignment.js'

test('one broker holds everything', () => {
  assert.deepEqual(assignReplicas([7], 3, 1, 0), [[7], [7], [7]])
})

test('leaders go round, and followers shift with each round', () => {
  assert.deepEqual(assignReplicas([0, 1, 2, 3, 4], 10, 3, 0), [
    [0, 1, 2],
    [1, 2, 3],
    [2, 3, 4],
    [3, 4, 0],
    [4, 0, 1],
    [0, 2, 3],
    [1, 3, 4],
    [2, 4, 0],
    [3, 0, 1],
    [4, 1, 2],
  ])
})

test('no partition has a broker twice, and leaders are spread evenly', () => {
  const assignment = assignReplicas([4, 2, 9], 30, 3, 5)
  const leads = new Map<number, number>()
  for (const replicas of assignment) {
    assert.equal(new Set(replicas).size, 3)
    leads.set(replicas[0]!, (leads.get(replicas[0]!) ?? 0) + 1)
  }
  assert.deepEqual([...leads.values()], [10, 10, 10])
})
