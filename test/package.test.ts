/** What is published, and what its README promises. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { test } from 'node:test'
import { BrokerConfig } from '../src/config.js'
import { parseProperties } from '../src/properties.js'

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
