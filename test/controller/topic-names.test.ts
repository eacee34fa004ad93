import assert from 'node:assert/strict'
import { test } from 'node:test'
import { collidingTopic, topicNameFault } from '../../src/controller/topic-names.js'

test('letters, digits, dots, dashes and underscores, up to 249 of them, are a legal name', () => {
  for (const name of ['a', 'A.b-c_9', '...', 'x'.repeat(249)]) {
    assert.equal(topicNameFault(name), undefined, name)
  }
})

test('everything else is refused with a reason', () => {
  for (const name of ['', '.', '..', 'x'.repeat(250), 'a b', 'a/b', '../x', 'ä', 'a\0']) {
    assert.match(topicNameFault(name) ?? '', /^Topic name/, JSON.stringify(name))
  }
})

test('a name that differs by a dot against an underscore collides', () => {
  assert.equal(collidingTopic('a.b', ['a_b']), 'a_b')
  assert.equal(collidingTopic('a.b', ['a.b', 'a-b']), undefined)
})
