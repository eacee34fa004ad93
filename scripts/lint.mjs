// Checks, or with --write mends, the form of TypeScript (Biome) and C++ (clang-format).
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { checkPlatform, installDependencies, root, run } from './setup.mjs'

export function lint(write) {
  const biome = join(root, 'node_modules', '@biomejs', 'biome', 'bin', 'biome')
  run(process.execPath, [biome, 'check', '--error-on-warnings', ...(write ? ['--write'] : [])])
  const sources = ['native', 'test/native', 'test/fault', 'test/fuzz']
    .flatMap((folder) => readdirSync(join(root, folder)).map((name) => join(folder, name)))
    .filter((path) => /\.(cc|h)$/.test(path))
  if (sources.length === 0) return
  const format = join(root, 'node_modules', '.bin', 'clang-format')
  run(format, [...(write ? ['-i'] : ['--dry-run', '-Werror']), ...sources])
}

if (process.argv[1] === import.meta.filename || process.argv[1]?.endsWith('lint.mjs')) {
  checkPlatform()
  installDependencies()
  lint(process.argv.includes('--write'))
}
