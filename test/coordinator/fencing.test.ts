/** Who may commit, and what stays of an offset when he may not. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KafkaError } from '../../src/errors.js'
import { groupId, Scene } from './scene.js'

/** A group of two in generation 3 that has committed 1. */
async function inGenerationThree() {
  const scene = new Scene()
  const first = await scene.stable()
  const [id = ''] = first.ids
  for (let generation = 2; generation <= 3; generation++) {
    const { answer } = await scene.join({ memberId: id })
    assert.equal(answer.generationId, generation)
    await scene.sync(id, generation)
  }
  assert.equal(await scene.commit(1, { memberId: id, generationId: 3 }), KafkaError.NONE)
  return { scene, id }
}

test('a generation that is over commits nothing', async () => {
  const { scene, id } = await inGenerationThree()
  await scene.join({ memberId: id })
  await scene.sync(id, 4)
  assert.equal(
    await scene.commit(9, { memberId: id, generationId: 3 }),
    KafkaError.ILLEGAL_GENERATION,
  )
  assert.equal(await scene.committed(), 1)
  assert.equal(await scene.commit(2, { memberId: id, generationId: 4 }), KafkaError.NONE)
  assert.equal(await scene.committed(), 2)
})

test('one who is no member commits nothing, in the right generation either', async () => {
  const { scene, id } = await inGenerationThree()
  const pending = await scene.join({ requireKnownMemberId: true })
  for (const memberId of ['x', '', pending.answer.memberId]) {
    const refused = await scene.commit(9, { memberId, generationId: 3 })
    assert.equal(refused, KafkaError.UNKNOWN_MEMBER_ID, memberId)
  }
  await scene.leave(id)
  const left = await scene.commit(9, { memberId: id, generationId: 3 })
  assert.equal(left, KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(await scene.committed(), 1)
})

test('while a rebalance is prepared a commit is taken, and a heartbeat asks to join', async () => {
  const { scene, id } = await inGenerationThree()
  await scene.join()
  assert.equal(scene.state, 'PreparingRebalance')
  assert.equal(await scene.commit(2, { memberId: id, generationId: 3 }), KafkaError.NONE)
  assert.equal(await scene.heartbeat(id, 3), KafkaError.REBALANCE_IN_PROGRESS)
  const old = await scene.commit(9, { memberId: id, generationId: 2 })
  assert.equal(old, KafkaError.ILLEGAL_GENERATION)
  assert.equal(await scene.committed(), 2)
})

test('while the assignment is awaited a commit is refused, and a heartbeat is fine', async () => {
  const { scene, id } = await inGenerationThree()
  await scene.join({ memberId: id })
  assert.equal(scene.state, 'CompletingRebalance')
  const refused = await scene.commit(9, { memberId: id, generationId: 4 })
  assert.equal(refused, KafkaError.REBALANCE_IN_PROGRESS)
  assert.equal(await scene.heartbeat(id, 4), KafkaError.NONE)
  assert.equal(await scene.committed(), 1)
})

test('a static member that was replaced commits, syncs and beats no more', async () => {
  const scene = new Scene()
  const groupInstanceId = 'i'
  const { leader, generation: generationId } = await scene.stable(1, { groupInstanceId })
  const own = { groupInstanceId, memberId: leader, generationId }
  assert.equal(await scene.commit(1, own), KafkaError.NONE)
  const { answer } = await scene.join({ groupInstanceId })
  assert.equal(answer.generationId, generationId)
  assert.equal(await scene.commit(9, own), KafkaError.FENCED_INSTANCE_ID)
  const beat = await scene.heartbeat(leader, generationId, { groupInstanceId })
  assert.equal(beat, KafkaError.FENCED_INSTANCE_ID)
  const synced = await scene.sync(leader, generationId, { groupInstanceId })
  assert.equal(synced.answer.errorCode, KafkaError.FENCED_INSTANCE_ID)
  assert.equal(await scene.committed(), 1)
  assert.equal(await scene.commit(2, { ...own, memberId: answer.memberId }), KafkaError.NONE)
})

test('a group that was deleted and made again does not know its old members', async () => {
  const scene = new Scene()
  const { leader, generation } = await scene.stable()
  await scene.leave(leader)
  assert.equal(await scene.coordinator.deleteGroup(groupId), KafkaError.NONE)
  const { answer } = await scene.join()
  assert.equal(answer.generationId, generation)
  await scene.sync(answer.memberId, generation)
  const refused = await scene.commit(9, { memberId: leader, generationId: generation })
  assert.equal(refused, KafkaError.UNKNOWN_MEMBER_ID)
  assert.equal(await scene.committed(), -1)
})
