/**
 * Reads TypeScript, JavaScript and C++ just well enough to judge their form: where code is, as
 * opposed to comments, strings, templates and regular expressions; where functions begin and end;
 * what is imported.
 *
 * `mask` keeps every position and every newline, so an index into the mask is one into the source.
 * A source that it misreads shows as braces that do not match, which is an error and not a shorter
 * list of functions.
 */

export type Language = 'ts' | 'cpp'

export interface FunctionSpan {
  /** Lines, counted from 1, of the parameter list and of the closing brace. */
  first: number
  last: number
}

export interface Import {
  specifier: string
  /** The text between `import` or `export` and `from`; empty for `import 'x'` and `import('x')`. */
  clause: string
  typeOnly: boolean
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ')

/**
 * What may stand before a slash that begins a regular expression: an operator, an opening, certain
 * words.
 */
const beforeRegex =
  /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|in|of|do|else|yield|await))\s*$/

const regex = /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/y
const quoted = { "'": /'(?:[^'\\\n]|\\[\s\S])*'/y, '"': /"(?:[^"\\\n]|\\[\s\S])*"/y }
const rawString = /R"([^(\s]*)\([\s\S]*?\)\1"/y
const comment = /\/\/[^\n]*|\/\*[\s\S]*?\*\//y
/** A stretch of a template, up to its end or to a `${`. */
const templatePart = /(?:[^`\\$]|\\[\s\S]|\$(?!\{))*(`|\$\{)/y

function matchAt(pattern: RegExp, source: string, at: number): string | undefined {
  pattern.lastIndex = at
  return pattern.exec(source)?.[0]
}

class Masker {
  readonly #source: string
  readonly #language: Language
  #at = 0
  #out = ''
  /** For each template that is open, how many braces are open inside its present `${}`. */
  readonly #templates: number[] = []

  constructor(source: string, language: Language) {
    this.#source = source
    this.#language = language
  }

  run(): string {
    while (this.#at < this.#source.length) this.#step()
    return this.#out
  }

  #step(): void {
    const hidden = this.#hidden()
    if (hidden !== undefined) {
      this.#skip(hidden)
      return
    }
    const char = this.#source.charAt(this.#at)
    if (this.#language === 'ts' && char === '`') this.#template('`')
    else if (char === '}' && this.#templates.at(-1) === 0) this.#resume()
    else this.#keep(char)
  }

  /** A comment, string or regular expression that begins here. */
  #hidden(): string | undefined {
    const char = this.#source.charAt(this.#at)
    if (char === '/') {
      const text = matchAt(comment, this.#source, this.#at)
      if (text !== undefined || this.#language === 'cpp') return text
      return beforeRegex.test(this.#out.slice(-40))
        ? matchAt(regex, this.#source, this.#at)
        : undefined
    }
    if (this.#language === 'cpp') {
      if (char === 'R') return matchAt(rawString, this.#source, this.#at)
      // An apostrophe inside a number separates its digits.
      if (char === "'" && /[0-9a-fA-F]$/.test(this.#out)) return undefined
    }
    return char === "'" || char === '"' ? matchAt(quoted[char], this.#source, this.#at) : undefined
  }

  /** Blanks a text, but for the quotes around it, which tell a string from nothing. */
  #skip(text: string): void {
    const quote = /^(['"])[\s\S]*\1$/.test(text) ? text.charAt(0) : ''
    this.#out += quote ? quote + blank(text.slice(1, -1)) + quote : blank(text)
    this.#at += text.length
  }

  #keep(char: string): void {
    const open = this.#templates.length - 1
    if (open >= 0 && char === '{') this.#templates[open] = (this.#templates[open] ?? 0) + 1
    if (open >= 0 && char === '}') this.#templates[open] = (this.#templates[open] ?? 0) - 1
    this.#out += char
    this.#at += 1
  }

  #template(opening: string): void {
    const text = matchAt(templatePart, this.#source, this.#at + 1)
    if (text === undefined) throw new Error('a template does not end')
    this.#out += blank(opening + text)
    this.#at += 1 + text.length
    if (text.endsWith('${')) this.#templates.push(0)
  }

  #resume(): void {
    this.#templates.pop()
    this.#template('}')
  }
}

/** The source with everything that is not code turned into spaces. */
export function mask(source: string, language: Language): string {
  return new Masker(source, language).run()
}

const closing: Record<string, string> = { '(': ')', '[': ']', '{': '}' }

/**
 * For each opening bracket the index of the one that closes it, and the reverse. Throws where one
 * is missing.
 */
export function brackets(code: string): Map<number, number> {
  const pairs = new Map<number, number>()
  const open: number[] = []
  for (let at = 0; at < code.length; at += 1) {
    const char = code.charAt(at)
    if (closing[char] !== undefined) open.push(at)
    if (char !== ')' && char !== ']' && char !== '}') continue
    const from = open.pop()
    if (from === undefined || closing[code.charAt(from)] !== char) {
      throw new Error(`line ${lineOf(code, at)}: no bracket for this ${char}`)
    }
    pairs.set(from, at)
    pairs.set(at, from)
  }
  const left = open.pop()
  if (left !== undefined) throw new Error(`line ${lineOf(code, left)}: this bracket is not closed`)
  return pairs
}

const lineOf = (text: string, at: number) => text.slice(0, at).split('\n').length

const notFunctions = /\b(?:if|for|while|switch|catch|with|constexpr)\s*$|\bfor\s+await\s*$/

/**
 * Follows what may stand between a parameter list and a body; gives the index of the body's brace,
 * or -1.
 */
class Heading {
  readonly #code: string
  readonly #pairs: Map<number, number>

  constructor(code: string, pairs: Map<number, number>) {
    this.#code = code
    this.#pairs = pairs
  }

  bodyAfter(parametersEnd: number, language: Language): number {
    const at = this.#space(parametersEnd + 1)
    if (this.#code.charAt(at) === '{') return at
    return language === 'cpp' ? this.#cpp(at) : this.#typescript(at)
  }

  #space(at: number): number {
    while (/\s/.test(this.#code.charAt(at))) at += 1
    return at
  }

  #typescript(at: number): number {
    if (this.#code.startsWith('=>', at)) return this.#brace(at + 2)
    return this.#code.charAt(at) === ':' ? this.#type(at + 1) : -1
  }

  #brace(at: number): number {
    at = this.#space(at)
    return this.#code.charAt(at) === '{' ? at : -1
  }

  /**
   * A return type ends where a brace follows something complete; a brace before that is a part of
   * it.
   */
  #type(at: number): number {
    let complete = false
    let angles = 0
    for (at = this.#space(at); at < this.#code.length; at = this.#space(at + 1)) {
      const char = this.#code.charAt(at)
      if (this.#code.startsWith('=>', at)) {
        const body = this.#brace(at + 2)
        if (angles === 0 && body >= 0) return body
        at += 1
        complete = false
      } else if (char === '{' && complete && angles === 0) return at
      else if (closing[char] !== undefined) {
        at = this.#pairs.get(at) ?? at
        complete = true
      } else if (char === '<') angles += 1
      else if (char === '>') angles -= 1
      else if (/[\w$'"`.]/.test(char)) {
        const word = /^[\w$.]+/.exec(this.#code.slice(at, at + 80))?.[0] ?? char
        at += word.length - 1
        complete = !/^(?:is|asserts|keyof|typeof|readonly|extends|infer)$/.test(word)
      } else if (char === '|' || char === '&' || (angles > 0 && /[,?:]/.test(char)))
        complete = false
      else return -1
    }
    return -1
  }

  #cpp(at: number): number {
    const rest = /^(?:(?:const|noexcept|override|final|mutable|&{1,2}|->\s*[\w:<>,*& ]+(?=\{))\s*)+/
    at += rest.exec(this.#code.slice(at, at + 200))?.[0].length ?? 0
    if (this.#code.charAt(at) === '{') return at
    return /^:(?!:)/.test(this.#code.slice(at, at + 2)) ? this.#initialisers(at + 1) : -1
  }

  #initialisers(at: number): number {
    for (;;) {
      at = this.#space(at)
      at += /^[\w:<>, ]*/.exec(this.#code.slice(at, at + 200))?.[0].length ?? 0
      const end = /[({]/.test(this.#code.charAt(at)) ? this.#pairs.get(at) : undefined
      if (end === undefined) return -1
      at = this.#space(end + 1)
      if (this.#code.charAt(at) !== ',') return this.#code.charAt(at) === '{' ? at : -1
      at += 1
    }
  }
}

/**
 * Every function, method, constructor, arrow function with a body, and lambda. `code` is masked.
 */
export function functionsOf(code: string, language: Language): FunctionSpan[] {
  const pairs = brackets(code)
  const heading = new Heading(code, pairs)
  const spans: FunctionSpan[] = []
  for (const [at, end] of pairs) {
    if (code.charAt(at) !== '(' || notFunctions.test(code.slice(Math.max(0, at - 40), at))) continue
    const body = heading.bodyAfter(end, language)
    if (body >= 0)
      spans.push({ first: lineOf(code, at), last: lineOf(code, pairs.get(body) ?? body) })
  }
  return spans.sort((a, b) => a.first - b.first)
}

/**
 * Every module that is named in an import, an export from, or an `import()`, in TypeScript or
 * JavaScript.
 */
export function importsOf(source: string, code: string): Import[] {
  const found: Import[] = []
  const pattern = /\b(?:(?:import|export)\s+([\w\s{},*$]*?)\s*from|import)\s*\(?\s*(['"])/g
  for (const match of code.matchAll(pattern)) {
    const begin = match.index + match[0].length
    const specifier = source.slice(begin, source.indexOf(match[2] ?? "'", begin))
    const clause = match[1] ?? ''
    found.push({ specifier, clause, typeOnly: /^type\b/.test(clause) })
  }
  return found
}
