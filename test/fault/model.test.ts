/** A log against the model of it, with the same seeds each time. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { temporaryDirectory } from '../support/tmp.js'
import { Model } from './model.js'

test('a log answers as an array of its records would, whatever is done to it', async (t) => {
  for (let seed = 1; seed <= 8; seed++) {
    const model = await Model.open(join(temporaryDirectory(t), 'log-0'), seed)
    for (let step = 0; step < 150; step++) {
      await model.step().catch((error) => {
        assert.fail(`seed ${seed}, step ${step}: ${error.stack}`)
      })
    }
    await model.close()
  }
})
