import assert from 'node:assert/strict'
import { test } from 'node:test'
import { KafkaError } from '../../src/errors.js'
import { ProducerState, sequenceAfter } from '../../src/storage/producer-state.js'

const sequenceMax = 2147483647

/** A log of one partition as far as sequence numbers go: appends what the state allows. */
class Partition {
  readonly state: ProducerState
  nextOffset = 0

  constructor(producersMax?: number) {
    this.state = new ProducerState(producersMax)
  }

  produce(sequence: number, count = 1, { id = 7, epoch = 0, timestamp = 0 } = {}) {
    const answer = this.state.check(id, epoch, sequence, count)
    if (answer !== 'append') return answer
    const baseOffset = this.nextOffset
    this.nextOffset += count
    this.state.update({
      producerId: id,
      producerEpoch: epoch,
      firstSequence: sequence,
      baseOffset,
      lastOffset: baseOffset + count - 1,
      timestamp,
    })
    return baseOffset
  }
}

const outOfOrder = KafkaError.OUT_OF_ORDER_SEQUENCE_NUMBER

test('a batch without producer id is appended and not remembered', () => {
  const partition = new Partition()
  assert.equal(partition.state.check(-1, -1, -1, 1), 'append')
  partition.produce(-1, 1, { id: -1, epoch: -1 })
  assert.equal(partition.state.size, 0)
})

test('a producer id with sequence -1 is an invalid record', () => {
  assert.equal(new ProducerState().check(7, 0, -1, 1), KafkaError.INVALID_RECORD)
})

test('a producer id with epoch -1 is an invalid record', () => {
  assert.equal(new ProducerState().check(7, -1, 0, 1), KafkaError.INVALID_RECORD)
})

test('a producer id beyond 2^53-1 is an invalid record', () => {
  assert.equal(new ProducerState().check(2 ** 53, 0, 0, 1), KafkaError.INVALID_RECORD)
})

test('batches in sequence are appended', () => {
  const partition = new Partition()
  assert.deepEqual(
    [partition.produce(0, 10), partition.produce(10, 5), partition.produce(15)],
    [0, 10, 15],
  )
})

test('an unknown producer may begin anywhere', () => {
  const partition = new Partition()
  assert.equal(partition.produce(1234), 0)
  assert.equal(partition.produce(1235), 1)
})

test('each of the last five batches is recognised, with its offsets', () => {
  const partition = new Partition()
  for (let batch = 0; batch < 5; batch++) partition.produce(batch * 10, 10)
  for (let batch = 0; batch < 5; batch++) {
    assert.deepEqual(partition.state.check(7, 0, batch * 10, 10), {
      firstSequence: batch * 10,
      lastSequence: batch * 10 + 9,
      baseOffset: batch * 10,
      lastOffset: batch * 10 + 9,
      timestamp: 0,
    })
  }
  assert.equal(partition.nextOffset, 50)
})

test('the sixth batch back is out of order', () => {
  const partition = new Partition()
  for (let sequence = 0; sequence < 6; sequence++) partition.produce(sequence)
  assert.equal(partition.produce(0), outOfOrder)
  assert.equal(typeof partition.state.check(7, 0, 1, 1), 'object')
})

test('a repeat of another length is out of order', () => {
  const partition = new Partition()
  partition.produce(0, 10)
  assert.equal(partition.produce(0, 9), outOfOrder)
  assert.equal(partition.produce(0, 11), outOfOrder)
})

test('a gap is out of order and changes nothing', () => {
  const partition = new Partition()
  partition.produce(0)
  assert.equal(partition.produce(2), outOfOrder)
  assert.equal(partition.produce(1), 1)
})

test('a superseded epoch is refused', () => {
  const partition = new Partition()
  partition.produce(0, 1, { epoch: 1 })
  assert.equal(partition.produce(1, 1, { epoch: 0 }), KafkaError.INVALID_PRODUCER_EPOCH)
})

test('a new epoch begins at 0 and nowhere else', () => {
  const partition = new Partition()
  partition.produce(0, 3)
  assert.equal(partition.produce(3, 1, { epoch: 1 }), outOfOrder)
  assert.equal(partition.produce(0, 1, { epoch: 1 }), 3)
})

test('a new epoch forgets the batches of the old one', () => {
  const partition = new Partition()
  partition.produce(0)
  partition.produce(1)
  partition.produce(0, 1, { epoch: 1 })
  assert.equal(partition.produce(1, 1, { epoch: 1 }), 3)
})

test('0 follows 2^31-1', () => {
  const partition = new Partition()
  partition.produce(sequenceMax)
  assert.equal(partition.produce(0), 1)
})

test('a batch may reach over 2^31-1, and its repeat is recognised', () => {
  const partition = new Partition()
  partition.produce(sequenceMax - 1, 4)
  assert.equal(typeof partition.state.check(7, 0, sequenceMax - 1, 4), 'object')
  assert.equal(partition.produce(1), outOfOrder)
  assert.equal(partition.produce(2), 4)
  assert.equal(sequenceAfter(sequenceMax, sequenceMax), sequenceMax - 1)
})

test('a check alone changes nothing', () => {
  const state = new ProducerState()
  assert.equal(state.check(7, 0, 0, 1), 'append')
  assert.equal(state.check(7, 5, 9, 1), 'append')
  assert.equal(state.size, 0)
})

test('producers do not see each other', () => {
  const partition = new Partition()
  partition.produce(0, 1, { id: 1 })
  assert.equal(partition.produce(0, 1, { id: 2 }), 1)
  assert.equal(partition.produce(1, 1, { id: 1 }), 2)
})

test('a truncation forgets what lies above, a batch across it too', () => {
  const partition = new Partition()
  partition.produce(0, 10)
  partition.produce(10, 10)
  partition.state.truncateTo(15)
  assert.equal(partition.state.check(7, 0, 10, 10), 'append')
  assert.equal(typeof partition.state.check(7, 0, 0, 10), 'object')
})

test('a truncation at the end of a batch keeps it', () => {
  const partition = new Partition()
  partition.produce(0, 10)
  partition.state.truncateTo(10)
  assert.equal(typeof partition.state.check(7, 0, 0, 10), 'object')
})

test('a truncation that leaves nothing of a producer forgets it', () => {
  const partition = new Partition()
  partition.produce(0, 10)
  partition.state.truncateTo(9)
  assert.equal(partition.state.size, 0)
})

test('a replay of the log gives the same answers as the appends', () => {
  const partition = new Partition()
  const rebuilt = new ProducerState()
  for (const [id, sequence, epoch] of [
    [1, 0, 0],
    [2, 5, 3],
    [1, 1, 0],
    [1, 0, 1],
    [2, 6, 3],
  ] as const) {
    const baseOffset = partition.nextOffset
    partition.produce(sequence, 1, { id, epoch })
    rebuilt.replay({
      producerId: id,
      producerEpoch: epoch,
      firstSequence: sequence,
      baseOffset,
      lastOffset: baseOffset,
      timestamp: 0,
    })
  }
  assert.deepEqual([...rebuilt.entries()], [...partition.state.entries()])
})

test('a control batch with a new epoch fences the old one and takes no sequence', () => {
  const partition = new Partition()
  partition.produce(0)
  partition.state.replay({
    producerId: 7,
    producerEpoch: 1,
    firstSequence: -1,
    baseOffset: 1,
    lastOffset: 1,
    timestamp: 0,
  })
  assert.equal(partition.produce(1), KafkaError.INVALID_PRODUCER_EPOCH)
  assert.equal(partition.produce(1, 1, { epoch: 1 }), outOfOrder)
  assert.equal(partition.state.check(7, 1, 0, 1), 'append')
})

test('a producer expires after its time of silence and not at it', () => {
  const partition = new Partition()
  partition.produce(0, 1, { timestamp: 1000 })
  assert.equal(partition.state.expire(2000, 1000), 0)
  assert.equal(partition.state.expire(2001, 1000), 1)
  assert.equal(partition.produce(7), 1)
})

test('above the bound the producer that was silent longest is forgotten', () => {
  const partition = new Partition(2)
  partition.produce(0, 1, { id: 1 })
  partition.produce(0, 1, { id: 2 })
  partition.produce(1, 1, { id: 1 })
  partition.produce(0, 1, { id: 3 })
  const known = [...partition.state.entries()].map(({ producerId }) => producerId)
  assert.deepEqual(known, [1, 3])
})
