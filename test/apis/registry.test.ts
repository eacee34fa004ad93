/** The registry finds every table, and every table holds together by itself. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiByKey, apiByName, apis } from '../../src/apis/registry.js'
import { Field, type Message } from '../../src/protocol/schema.js'
import type { Type } from '../../src/protocol/types.js'

type AnyMessage = Message<unknown, unknown>
type AnyType = Type<unknown, unknown>

const messages: AnyMessage[] = apis.flatMap((api) => [api.request, api.response])

/** Calls back for every struct of a message, the outermost first. */
function eachStruct(type: AnyType, path: string, visit: (struct: AnyType, path: string) => void) {
  if (type.item) eachStruct(type.item, `${path}[]`, visit)
  if (!type.fields) return
  visit(type, path)
  for (const [name, field] of type.fields) {
    eachStruct((field as Field<unknown, unknown>).type, `${path}.${name}`, visit)
  }
}

function fieldsOf(struct: AnyType): [string, Field<unknown, unknown>][] {
  return [...(struct.fields ?? [])].map(([name, field]) => [
    name,
    field instanceof Field ? field : assert.fail(name),
  ])
}

test('an API is found by its key and by its name', () => {
  for (const api of apis) {
    assert.equal(apiByKey(api.key), api)
    assert.equal(apiByName(api.name), api)
  }
})

test('a key or name without a table finds nothing', () => {
  assert.equal(apiByKey(-1), undefined)
  assert.equal(apiByKey(32_767), undefined)
  assert.equal(apiByName('fetch'), undefined)
})

test('the registry is in the order of the keys, and no key comes twice', () => {
  const keys = apis.map((api) => api.key)
  assert.deepEqual(
    keys,
    [...new Set(keys)].sort((a, b) => a - b),
  )
})

test('both directions of an API have the versions of the API', () => {
  for (const api of apis) {
    assert.deepEqual(api.request.versions, api.versions)
    assert.deepEqual(api.response.versions, api.versions)
  }
})

test('a field has a name in camel case and versions that its message has', () => {
  for (const { type, name, versions } of messages) {
    eachStruct(type, name, (struct, path) => {
      for (const [field, { from, to }] of fieldsOf(struct)) {
        assert.match(field, /^[a-z][a-zA-Z0-9]*$/, path)
        assert.ok(from <= versions[1] && from <= to, `${path}.${field}`)
      }
    })
  }
})

test('tags of a struct count from 0, and tagged fields exist in flexible versions alone', () => {
  for (const message of messages) {
    eachStruct(message.type, message.name, (struct, path) => {
      const tagged = fieldsOf(struct).filter(([, field]) => field.tag !== undefined)
      const tags = tagged.map(([, field]) => field.tag).sort()
      assert.deepEqual(tags, [...tags.keys()], path)
      for (const [name, field] of tagged) {
        assert.ok(message.isFlexible(field.from), `${path}.${name}`)
      }
    })
  }
})
