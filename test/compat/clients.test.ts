/**
 * Clients of the matrix that are quick, put through its scenario. `npm run compat` runs all, with
 * all of their assignors, and kills a member of the group where it only leaves here.
 */
import { before, test } from 'node:test'
// Of this file's process it takes care.
import './harness.js'
import { quickClients } from './matrix/clients.js'
import { Scenario } from './matrix/scenario.js'
import { prepare } from './prepare.js'

before(prepare)

for (const client of quickClients) {
  test(`${client.name} goes through the scenario`, { timeout: 90_000 }, async (t) => {
    const scenario = await Scenario.begin(client, client.install(), true)
    try {
      for (const [name, step] of scenario.steps()) {
        await step().catch((cause) => {
          throw new Error(`${name}: ${cause}\n${scenario.noise()}`, { cause })
        })
        t.diagnostic(name)
      }
    } finally {
      await scenario.end()
    }
  })
}
