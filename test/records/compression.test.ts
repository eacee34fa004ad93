import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'
import { gzipSync } from 'node:zlib'
import { type Codec, codecNamed, codecOf, codecs, decompress } from '../../src/records/index.js'
import { seeded } from './helpers.js'

const packed = codecs.slice(1)
const MEBIBYTE = 1024 * 1024

function noise(length: number): Buffer {
  const next = seeded(7)
  return Buffer.from(Array.from({ length }, () => next(256)))
}

const inputs: [string, Buffer][] = [
  ['no bytes', Buffer.alloc(0)],
  ['one byte', Buffer.from('x')],
  ['noise that does not pack', noise(100_000)],
  ['one block less a byte', Buffer.alloc(32 * 1024 - 1, 'ab')],
  ['one byte more than a block', Buffer.alloc(128 * 1024 + 1, 'abc')],
  ['a mebibyte of zeros', Buffer.alloc(MEBIBYTE)],
]
for (const codec of codecs) {
  for (const [what, input] of inputs) {
    test(`${what} come back from ${codec.name}`, () => {
      const output = codec.decompress(codec.compress(input), Math.max(input.length, 1))
      assert.ok(Buffer.from(output).equals(input))
    })
  }
}

for (const codec of codecs) {
  test(`${codec.name} gives exactly the bound, and TOO_LARGE for a byte more`, () => {
    const bytes = codec.compress(Buffer.alloc(100_000, 'abcdefg'))
    assert.equal(codec.decompress(bytes, 100_000).length, 100_000)
    assert.throws(() => codec.decompress(bytes, 99_999), { code: 'TOO_LARGE' })
  })
}

/** 64 MiB of zeros; 1 GiB where members or frames may be joined. */
function bomb(codec: Codec): Uint8Array {
  const part: Uint8Array = codec.compress(Buffer.alloc(64 * MEBIBYTE))
  if (codec.name === 'gzip' || codec.name === 'zstd')
    return Buffer.concat(Array.from({ length: 16 }, () => part))
  return part
}

for (const codec of packed) {
  test(`a bomb of ${codec.name} is TOO_LARGE and costs less than 64 MiB`, () => {
    const bytes = bomb(codec)
    const before = process.memoryUsage().rss
    assert.throws(() => decompress(codec.id, bytes), { code: 'TOO_LARGE' })
    assert.ok(process.memoryUsage().rss - before < 64 * MEBIBYTE)
  })
}

for (const codec of packed) {
  test(`whatever ${codec.name} is cut at is CORRUPT`, () => {
    const bytes = codec.compress(Buffer.from('a record and another record and a record'))
    // Joined snappy blocks have no end: a cut between two is a shorter stream.
    const start = codec.name === 'snappy' ? 17 : 1
    for (let end = start; end < bytes.length; end++) {
      assert.throws(() => codec.decompress(bytes.subarray(0, end), 1000), { code: 'CORRUPT' })
    }
  })

  test(`text instead of ${codec.name} is CORRUPT`, () => {
    const bytes = Buffer.from('\xff\xff\xff\xffGET / HTTP/1.1', 'latin1')
    assert.throws(() => codec.decompress(bytes, 1000), { code: 'CORRUPT' })
  })
}

test('ids and names are those of Kafka', () => {
  assert.deepEqual(
    codecs.map(({ id, name }) => [id, name]),
    [
      [0, 'none'],
      [1, 'gzip'],
      [2, 'snappy'],
      [3, 'lz4'],
      [4, 'zstd'],
    ],
  )
  assert.equal(codecOf(5), undefined)
})

test('a higher level of gzip and zstd packs no worse', () => {
  const input = Buffer.from(Array.from({ length: 3000 }, (_, i) => `record ${i * 7}`).join())
  for (const name of ['gzip', 'zstd']) {
    const codec = codecNamed(name)
    assert.ok(codec.compress(input, 9).length <= codec.compress(input, 1).length)
  }
})

test('gzip of several members is read as one', () => {
  const bytes = Buffer.concat([gzipSync('one '), gzipSync('two')])
  assert.equal(Buffer.from(decompress(1, bytes)).toString(), 'one two')
})

const blockOf = (text: string) => {
  // A raw block: its length, then one literal of up to 60 bytes.
  const bytes = Buffer.from(text)
  return Buffer.concat([Buffer.from([bytes.length, (bytes.length - 1) << 2]), bytes])
}
const xerial = (...blocks: Buffer[]) => {
  const parts: Uint8Array[] = [Buffer.from('\x82SNAPPY\0\0\0\0\x01\0\0\0\x01', 'latin1')]
  for (const block of blocks) {
    const length = Buffer.alloc(4)
    length.writeInt32BE(block.length)
    parts.push(length, block)
  }
  return Buffer.concat(parts)
}

test('snappy is read raw, as librdkafka writes it', () => {
  assert.equal(Buffer.from(decompress(2, blockOf('raw'))).toString(), 'raw')
})

test('snappy is read in the stream form of xerial, as Java writes it', () => {
  const bytes = xerial(blockOf('one '), blockOf('two'))
  assert.equal(Buffer.from(decompress(2, bytes)).toString(), 'one two')
})

test('joined streams of snappy are read as one', () => {
  const bytes = Buffer.concat([xerial(blockOf('one ')), xerial(blockOf('two'))])
  assert.equal(Buffer.from(decompress(2, bytes)).toString(), 'one two')
})

test('snappy is written in the stream form of xerial', () => {
  const bytes = Buffer.from(codecNamed('snappy').compress(Buffer.from('x')))
  assert.deepEqual(bytes, xerial(blockOf('x')))
})

test('a snappy block that claims 4 GiB is CORRUPT before it is allocated', () => {
  const bytes = Buffer.from([0xff, 0xff, 0xff, 0xff, 0x0f, 0, 0x61])
  assert.throws(() => decompress(2, bytes, Number.MAX_SAFE_INTEGER), { code: 'CORRUPT' })
})

test('many small snappy blocks are bounded together', () => {
  const bytes = xerial(...Array.from({ length: 100 }, () => blockOf('ten bytes.')))
  assert.equal(decompress(2, bytes, 1000).length, 1000)
  assert.throws(() => decompress(2, bytes, 999), { code: 'TOO_LARGE' })
})

test('an lz4 frame is written with independent blocks and without a content size', () => {
  const bytes = Buffer.from(codecNamed('lz4').compress(Buffer.alloc(200_000)))
  assert.equal(bytes.readUInt32LE(0), 0x184d2204)
  assert.equal((bytes[4] ?? 0) & 0xe8, 0x60)
})

test('an lz4 frame with a wrong header checksum is CORRUPT', () => {
  const bytes = Buffer.from(codecNamed('lz4').compress(Buffer.from('x')))
  bytes[6] = (bytes[6] ?? 0) ^ 1
  assert.throws(() => decompress(3, bytes), { code: 'CORRUPT' })
})

test('zstd frames without a content size are bounded by their blocks', () => {
  // Magic, a descriptor of nothing, a window of 1 KiB, and blocks of one byte repeated 1,024 times.
  const block = (last: number) => [
    last | (1 << 1) | ((1024 << 3) & 0xff),
    (1024 << 3) >> 8,
    0,
    0x61,
  ]
  const frame = [0x28, 0xb5, 0x2f, 0xfd, 0, 0, ...block(0), ...block(1)]
  const bytes = Buffer.from(frame)
  assert.deepEqual(Buffer.from(decompress(4, bytes, 2048)), Buffer.alloc(2048, 'a'))
  assert.throws(() => decompress(4, bytes, 2047), { code: 'TOO_LARGE' })
})

test('a zstd frame whose content size is not that of its blocks is CORRUPT', () => {
  const raw = [1 | (3 << 3), 0, 0, 0x61, 0x62, 0x63]
  const sized = (size: number) => Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, size, ...raw])
  assert.equal(Buffer.from(decompress(4, sized(3))).toString(), 'abc')
  for (const size of [2, 4, 255]) {
    assert.throws(() => decompress(4, sized(size)), { code: 'CORRUPT' })
  }
})

test('codecs are not loaded before they are used, and a missing one is named', () => {
  const url = new URL('../../src/records/index.js', import.meta.url).href
  const program = `
    import Module from 'node:module'
    const load = Module._load
    const asked = []
    Module._load = function (request, ...rest) {
      if (/snappy|lz4|zstd/.test(request)) {
        asked.push(request)
        throw Object.assign(new Error('missing'), { code: 'MODULE_NOT_FOUND' })
      }
      return load.call(this, request, ...rest)
    }
    const { codecs } = await import(${JSON.stringify(url)})
    console.log(asked.length)
    for (const name of ['snappy', 'lz4']) {
      try {
        codecs.find((codec) => codec.name === name).compress(Buffer.from('x'))
      } catch (error) {
        console.log(error.code, error.message)
      }
    }`
  const child = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 20_000,
  })
  const [asked, snappy, lz4] = child.stdout.split('\n')
  assert.equal(asked, '0', child.stderr)
  assert.match(snappy ?? '', /^UNSUPPORTED_COMPRESSION .*npm package snappy/)
  assert.match(lz4 ?? '', /^UNSUPPORTED_COMPRESSION .*npm package lz4-napi/)
})
