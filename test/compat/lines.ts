/**
 * Text as a web server logs it: deterministic, a little over 100 bytes a line, with UTF-8 of every
 * length and no empty line, so that what comes out of a broker can be compared with what went in,
 * byte by byte.
 */

/** A small generator of the xorshift family; the same seed gives the same sequence everywhere. */
export function generator(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1
  return (below) => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state % below
  }
}

const paths = ['/index.html', '/images/logo.svg', '/straße/müller', '/商品/一覧', '/emoji/🚀/🧭']
const methods = ['GET', 'GET', 'GET', 'POST', 'HEAD']
const agents = ['curl/8.5.0', 'Lynx/2.9', 'Wget/1.21']
const statuses = [200, 200, 200, 204, 301, 404, 500]

/** `count` lines, each ended by a newline. */
export function accessLog(count: number, seed = 1): Buffer {
  const next = generator(seed)
  const pick = <T>(list: readonly T[]) => list[next(list.length)]
  const lines: string[] = []
  for (let number = 0; number < count; number += 1) {
    const address = `10.${next(256)}.${next(256)}.${next(256)}`
    const time = `2024-03-${String(1 + next(28)).padStart(2, '0')}T10:15:32Z`
    const request = `${pick(methods)} ${pick(paths)}?id=${next(1_000_000)}`
    const result = `${pick(statuses)} ${next(99_999)} ${number} "${pick(agents)}"`
    lines.push(`${address} - - [${time}] "${request} HTTP/1.1" ${result}\n`)
  }
  return Buffer.from(lines.join(''))
}
