/** What is published, and what its README promises. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { BrokerConfig } from '../src/config.js'
import { parseProperties } from '../src/properties.js'
import { temporaryDirectory } from './support/tmp.js'

const root = join(import.meta.dirname, '..', '..')
const read = (path: string) => readFileSync(join(root, path), 'utf8')

function packed(): string[] {
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const { status, stdout } = spawnSync('npm', args, { cwd: root, encoding: 'utf8' })
  assert.equal(status, 0)
  const [report] = JSON.parse(stdout) as { files: { path: string }[] }[]
  assert.ok(report)
  return report.files.map(({ path }) => path)
}

test('the package holds what it runs on, and no maps of sources that it does not hold', () => {
  const paths = packed()
  for (const path of ['dist/src/index.js', 'dist/src/index.d.ts', 'scripts/install.mjs']) {
    assert.ok(paths.includes(path), path)
  }
  assert.deepEqual(
    paths.filter((path) => path.endsWith('.map') || /test|bench\.mjs|lint/.test(path)),
    ['docs/testing.md'],
  )
})

test('every link of the documents in the package leads to a file of it', () => {
  const paths = packed()
  const broken = paths
    .filter((path) => path.endsWith('.md'))
    .flatMap((path) =>
      [...read(path).matchAll(/\]\((?!https?:|#)([^)#]+)/g)].map(([, link = '']) => {
        return [path, normalize(join(dirname(path), link))] as const
      }),
    )
    .filter(([, target]) => !paths.some((p) => p === target || p.startsWith(`${target}/`)))
  assert.deepEqual(broken, [])
})

test('the sample of server.properties in the README is accepted without a warning', () => {
  const sample = /```properties\n([\s\S]*?)```/.exec(read('README.md'))?.[1] ?? ''
  const given = Object.fromEntries(parseProperties(sample, 'README.md'))
  assert.ok(Object.keys(given).length > 3)
  const warnings: string[] = []
  BrokerConfig.parse(given, (line) => warnings.push(line))
  assert.deepEqual(warnings, [])
})

/** A use of the public types, where those of a user who disposes of a log meet ours. */
const disposed = `
import { openLog, type OpenLogOptions, type RetentionOptions } from 'seglog'
const retention: RetentionOptions = { ms: 1 }
const options: OpenLogOptions = { retention }
await using log = await openLog('x', options)
console.log(log.endOffset)
`

test('what the documents show, and await using, compile in strict TypeScript', (t) => {
  const directory = temporaryDirectory(t)
  const texts = [read('README.md'), read('docs/library.md')]
  const examples = texts.flatMap((text) => [...text.matchAll(/```js\n([\s\S]*?)```/g)])
  assert.ok(examples.length > 5)
  const sources = [disposed, ...examples.map(([, code = '']) => code)]
  for (const [i, code] of sources.entries()) writeFileSync(join(directory, `${i}.mts`), code)
  symlinkSync(join(root, 'node_modules'), join(directory, 'node_modules'))
  const compilerOptions = {
    target: 'es2022',
    lib: ['esnext'],
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    noEmit: true,
    paths: { seglog: [join(root, 'dist', 'src', 'index.d.ts')] },
  }
  const config = JSON.stringify({ compilerOptions, include: ['*.mts'] })
  writeFileSync(join(directory, 'tsconfig.json'), config)
  const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc')
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', directory], {
    encoding: 'utf8',
  })
  assert.equal(stdout, '')
  assert.equal(status, 0)
})

test('--help of what npm runs is a usage and runs nothing else', () => {
  for (const [name, usage] of [
    ['test', 'usage: npm test -- '],
    ['torture', 'usage: npm run torture -- '],
    ['fuzz', 'usage: npm run fuzz -- '],
  ]) {
    const script = join(root, 'scripts', `${name}.mjs`)
    const { stdout, status } = spawnSync(process.execPath, [script, '--help'], { encoding: 'utf8' })
    assert.equal(status, 0)
    assert.ok(stdout.startsWith(String(usage)), stdout)
    assert.match(stdout, /\nexit code: .*\n$/)
  }
})
