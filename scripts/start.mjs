// `npm start`: builds what is missing, then runs the broker in this very process, so that signals
// and the exit code are the broker's own. Arguments after `--` go to `seglog broker`.
import { setup } from './setup.mjs'

setup()
process.argv.splice(2, 0, 'broker')
await import('../dist/src/cli/main.js')
