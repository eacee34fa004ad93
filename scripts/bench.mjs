// `npm run bench -- NAME`: builds what is missing, then runs the bench suite.
import { setup } from './setup.mjs'

setup()
await import('../dist/bench/main.js')
