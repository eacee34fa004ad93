import { setup } from './setup.mjs'

setup()
