// Runs when npm installs the package: compiles the addon where no build of it lies here yet.
import { existsSync } from 'node:fs'
import { buildAddon, checkPlatform, root } from './setup.mjs'

checkPlatform()
if (!existsSync(`${root}/build/Release/seglog.node`)) buildAddon()
