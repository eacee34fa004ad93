/** That the scanner sees functions and imports where they are, and nowhere else. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { brackets, functionsOf, importsOf, type Language, mask } from './scanner.js'

function found(source: string, language: Language = 'ts'): string[] {
  return functionsOf(mask(source, language), language).map(({ first, last }) => `${first}-${last}`)
}

const shapes: [string, string, string[]][] = [
  ['a function', 'function f(a: number) {\n}', ['1-2']],
  ['a return type', 'function f(): Promise<Map<string, number>> {\n}', ['1-2']],
  ['a return type with braces', 'function f(): { a: number } | undefined {\n}', ['1-2']],
  ['a type predicate', 'function f(a: unknown): a is string {\n}', ['1-2']],
  ['a method', 'class A {\n  async m(): Promise<void> {\n  }\n}', ['2-3']],
  [
    'a constructor and a getter',
    'class A {\n constructor(a = {}) {\n }\n get b() { return 1 }\n}',
    ['2-3', '4-4'],
  ],
  ['an arrow function', 'const f = async (a: string) => {\n}', ['1-2']],
  ['an arrow function with a return type', 'const f = (a: A): B<C, D> => {\n}', ['1-2']],
  ['an arrow function in a call', "test('x', async () => {\n\n})", ['1-3']],
  ['a function in a template', `const a = \`\${b.map((c) => {\n return c\n})}}\``, ['1-3']],
  ['control flow', 'if (a) {\n}\nfor (;;) {\n}\nfor await (const a of b) {\n}', []],
  ['more control flow', 'while (a) {\n}\nswitch (a) {\n}\ntry {\n} catch (a) {\n}', []],
  ['a condition', 'const a = (b) ? (c) : { d }', []],
  ['an interface', 'interface A {\n  m(a: { b: number }): { c: number }\n  n(): void\n}', []],
  ['a string with braces', "const a = '{ f() {'", []],
  ['a regular expression', 'const a = /[/{"]/.test(b) || c / d / e', []],
  ['comments', '// it does not {\n/* f() { */', []],
]

for (const [name, source, spans] of shapes) {
  test(`${name} is measured`, () => assert.deepEqual(found(source), spans))
}

const shapesOfCpp: [string, string, string[]][] = [
  ['a function', 'static int f(int a) {\n}', ['1-2']],
  ['a const method', 'int A::f() const noexcept {\n}', ['1-2']],
  ['a constructor', 'A::A(int a) : a_(a), b_{2} {\n}', ['1-2']],
  ['a lambda', 'auto f = [&](int a) -> int {\n};', ['1-2']],
  ['control flow', 'if (a) {\n}\nif constexpr (b) {\n}\nfor (int i = 0; i < 3; i++) {\n}', []],
  ['digits that are separated', "int a = 1'000; char b = '{'; int f() { return 0x1'F; }", ['1-1']],
  ['a raw string', 'auto a = R"x(f() { " )x"; ', []],
  ['a class', 'class A : public B {\n};', []],
]

for (const [name, source, spans] of shapesOfCpp) {
  test(`in C++ ${name} is measured`, () => assert.deepEqual(found(source, 'cpp'), spans))
}

test('a mask keeps every position', () => {
  const source = `a('b{') // c\nd(\`e\${f({ g: '\`' })}h\`)\n`
  const code = mask(source, 'ts')
  assert.equal(code.length, source.length)
  assert.equal(code, "a('  ')     \nd(    f({ g: ' ' })   )\n")
})

test('a bracket without its other half is an error, not a shorter list', () => {
  assert.throws(() => brackets('a {\n(}'), /line 2/)
  assert.throws(() => brackets('a {\n'), /line 1/)
})

test('imports are found in all their forms, and in code alone', () => {
  const source = [
    "import a, { b } from './1.js'",
    "import type { C } from './2.js'",
    'import {\n  d,\n} from "./3.js"',
    "export { e } from './4.js'",
    "export * from './5.js'",
    "import './6.js'",
    "await import('./7.js')",
    "// import x from './8.js'",
    "const text = 'import y from'",
    "const from = z('./9.js')",
  ].join('\n')
  const imports = importsOf(source, mask(source, 'ts'))
  assert.deepEqual(
    imports.map(({ specifier }) => specifier),
    ['./1.js', './2.js', './3.js', './4.js', './5.js', './6.js', './7.js'],
  )
  assert.deepEqual(
    imports.filter(({ typeOnly }) => typeOnly).map(({ clause }) => clause),
    ['type { C }'],
  )
})
