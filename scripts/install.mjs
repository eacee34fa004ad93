// Runs when npm installs the package: compiles the addon where no build of it lies here yet.
import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { buildAddon, checkPlatform, root } from './setup.mjs'

checkPlatform()
if (!existsSync(`${root}/build/Release/seglog.node`)) {
  createRequire(import.meta.url).resolve('node-addon-api')
  buildAddon()
}
