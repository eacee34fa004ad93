/**
 * The clients of the matrix: how each is had, what it can, what it cannot. What it lacks, no call
 * of the client does; another client judges in its place, or nobody.
 */

import { join } from 'node:path'
import zlib from 'node:zlib'
import { debian, go, java, type KafkaVersion, npm } from '../install.js'
import { root } from '../programs.js'
import type { Command } from './driver.js'

/** `group offsets`: its offsets are not those of a group, but lie in the coordination tree. */
export type Lack = 'delete' | 'committed' | 'group offsets'

export interface Client {
  /** By which it is chosen, with its version. */
  readonly name: string
  readonly codecs: readonly string[]
  /** Strategies by which its groups share partitions; none where it knows no groups. */
  readonly assignors: readonly string[]
  readonly lacks: readonly Lack[]
  /** Its producer is idempotent, and stays so through crashes of the broker. */
  readonly idempotent?: boolean
  /** Left out where nobody asks for it by its name. */
  readonly onlyWhenNamed?: boolean
  /** Installs what is missing and gives the command of the driver. */
  install(): Command
}

const nodeDriver = (name: string) => join(import.meta.dirname, 'drivers', `${name}.js`)

/** A driver that is run, or compiled, as it was written. */
const sourceOf = (name: string) => join(root, 'test', 'compat', 'matrix', 'drivers', name)

const all = ['none', 'gzip', 'snappy', 'lz4', 'zstd']

function node(driver: string, folder = '', ...more: string[]): Command {
  const args = ['--no-deprecation', nodeDriver(driver), ...more]
  return { command: process.execPath, args, env: { SEGLOG_CLIENT_FOLDER: folder } }
}

const kafkajs: Client = {
  name: 'kafkajs 2.2.4',
  idempotent: true,
  codecs: all,
  assignors: ['roundrobin'],
  lacks: [],
  install: () =>
    node(
      'kafkajs',
      npm({ kafkajs: '2.2.4', 'kafkajs-snappy': '1.1.0', '@2l/kafkajs-lz4': '1.3.2' }),
    ),
}

const kcat: Client = {
  name: 'kcat',
  codecs: all,
  assignors: ['range', 'roundrobin', 'cooperative-sticky'],
  lacks: ['delete', 'committed'],
  install() {
    debian({ kcat: 'kcat' })
    return node('kcat')
  },
}

const platformatic: Client = {
  name: '@platformatic/kafka 1.35.0',
  idempotent: true,
  // zstd where Node.js itself has it.
  codecs: 'zstdCompressSync' in zlib ? all : all.slice(0, -1),
  assignors: ['roundrobin'],
  lacks: [],
  install: () => node('platformatic', npm({ '@platformatic/kafka': '1.35.0' })),
}

function onJava(driver: string, version: KafkaVersion): Command {
  const path = java(sourceOf(`${driver}.java`), version)
  const memory = ['-Xmx128m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1']
  const level = '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn'
  return { command: 'java', args: [...memory, level, '-cp', path, driver] }
}

function javaClient(version: KafkaVersion): Client {
  return {
    name: `Java client ${version}`,
    idempotent: true,
    codecs: all,
    assignors: ['range', 'roundrobin', 'sticky', 'cooperative-sticky'],
    lacks: [],
    install: () => onJava('JavaClient', version),
  }
}

const oldScala: Client = {
  name: 'Scala clients 0.8.2.2',
  codecs: all.slice(0, 4),
  assignors: [],
  lacks: ['delete'],
  install: () => onJava('OldScalaClient', '0.8.2.2'),
}

const noKafka: Client = {
  name: 'no-kafka 3.4.4',
  codecs: ['none', 'gzip', 'snappy'],
  assignors: ['roundrobin'],
  lacks: ['delete'],
  install: () => node('no-kafka', npm({ 'no-kafka': '3.4.4', snappy: '7.4.3' })),
}

const rdkafka: Client = {
  name: 'node-rdkafka 3.6.1',
  idempotent: true,
  codecs: all,
  assignors: ['range', 'roundrobin', 'cooperative-sticky'],
  lacks: [],
  install() {
    debian({ '/usr/include/librdkafka/rdkafka.h': 'librdkafka-dev', 'g++': 'g++', make: 'make' })
    const options = { compiled: ['node-rdkafka'], env: { BUILD_LIBRDKAFKA: '0' } }
    return node('rdkafka', npm({ 'node-rdkafka': '3.6.1' }, options), 'node-rdkafka')
  },
}

const confluent: Client = {
  name: '@confluentinc/kafka-javascript 1.10.1',
  idempotent: true,
  codecs: all,
  assignors: ['range', 'roundrobin', 'cooperative-sticky'],
  lacks: [],
  // It compiles for minutes.
  onlyWhenNamed: true,
  install() {
    debian({
      'curl-config': 'libcurl4-openssl-dev',
      '/usr/include/openssl/ssl.h': 'libssl-dev',
      '/usr/include/sasl/sasl.h': 'libsasl2-dev',
      '/usr/include/zstd.h': 'libzstd-dev',
      'g++': 'g++',
      make: 'make',
    })
    const name = '@confluentinc/kafka-javascript'
    const options = { compiled: [name], env: { CKJS_LINKING: 'dynamic' } }
    return node('rdkafka', npm({ [name]: '1.10.1' }, options), name)
  },
}

function sarama(version: string, rest: Omit<Client, 'name' | 'install'>): Client {
  return {
    name: `sarama as for ${version}`,
    ...rest,
    install: () => ({ command: go(sourceOf('sarama.go')), args: [version] }),
  }
}

function python(version: string, { codecs = all, ...rest }: Partial<Client> = {}): Client {
  return {
    name: `python3-kafka ${version}`,
    codecs,
    assignors: ['range', 'roundrobin'],
    lacks: [],
    install() {
      debian({
        '/usr/lib/python3/dist-packages/kafka': 'python3-kafka',
        '/usr/lib/python3/dist-packages/snappy': 'python3-snappy',
        '/usr/lib/python3/dist-packages/lz4': 'python3-lz4',
        // With which it writes lz4 as Kafka before 0.10 read it.
        '/usr/lib/python3/dist-packages/xxhash': 'python3-xxhash',
        '/usr/lib/python3/dist-packages/zstandard': 'python3-zstandard',
      })
      return { command: '/usr/bin/python3', args: ['-u', sourceOf('kafka_python.py'), version] }
    },
    ...rest,
  }
}

const pythonAuto = python('auto')
const python09 = python('0.9', { codecs: all.slice(0, 4), lacks: ['delete'] })

/** Those that `npm test` runs too, with one assignor. */
export const quickClients: readonly Client[] = [pythonAuto, python09, platformatic]

export const clients: readonly Client[] = [
  kcat,
  kafkajs,
  pythonAuto,
  python('0.8.1', {
    codecs: ['none', 'gzip', 'snappy'],
    assignors: [],
    lacks: ['delete', 'group offsets'],
  }),
  python09,
  python('0.10', { codecs: ['none', 'gzip', 'snappy', 'lz4'] }),
  python('newest'),
  platformatic,
  javaClient('4.3.1'),
  javaClient('3.6.2'),
  sarama('0.8.2.0', { codecs: all.slice(0, 3), assignors: [], lacks: ['delete'] }),
  sarama('0.10.2.0', { codecs: all.slice(0, 4), assignors: ['range', 'roundrobin'], lacks: [] }),
  // It sends zstd with a Produce of before zstd, which brokers refuse.
  sarama('2.2.0', {
    codecs: all.slice(0, 4),
    assignors: ['range', 'roundrobin'],
    lacks: [],
    idempotent: true,
  }),
  oldScala,
  noKafka,
  rdkafka,
  confluent,
]
