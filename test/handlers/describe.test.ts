import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { describe } from '../../src/handlers/describe.js'
import { handlers } from '../../src/handlers/registry.js'

test('docs/protocol.md says what the registry serves', () => {
  const page = readFileSync('docs/protocol.md', 'utf8')
  assert.equal(page, describe(handlers.values()))
})

test('no handler serves a version that its table lacks', () => {
  for (const { api, versions } of handlers.values()) {
    assert.ok(versions[0] >= api.versions[0] && versions[1] <= api.versions[1], api.name)
  }
})
