/**
 * Every error that seglog gives, in three kinds that are never mixed. Errors of the protocol are
 * numbers of Kafka's table and travel to the client as values. Errors of storage and of use are a
 * `SeglogError` with a code. Broken assumptions are an `AssertionError` from `assert` and stay on
 * in production.
 */

/** Kafka's error codes (org.apache.kafka.common.protocol.Errors). */
export const KafkaError = {
  UNKNOWN_SERVER_ERROR: -1,
  NONE: 0,
  OFFSET_OUT_OF_RANGE: 1,
  CORRUPT_MESSAGE: 2,
  UNKNOWN_TOPIC_OR_PARTITION: 3,
  INVALID_FETCH_SIZE: 4,
  LEADER_NOT_AVAILABLE: 5,
  NOT_LEADER_OR_FOLLOWER: 6,
  REQUEST_TIMED_OUT: 7,
  BROKER_NOT_AVAILABLE: 8,
  REPLICA_NOT_AVAILABLE: 9,
  MESSAGE_TOO_LARGE: 10,
  STALE_CONTROLLER_EPOCH: 11,
  OFFSET_METADATA_TOO_LARGE: 12,
  NETWORK_EXCEPTION: 13,
  COORDINATOR_LOAD_IN_PROGRESS: 14,
  COORDINATOR_NOT_AVAILABLE: 15,
  NOT_COORDINATOR: 16,
  INVALID_TOPIC_EXCEPTION: 17,
  RECORD_LIST_TOO_LARGE: 18,
  NOT_ENOUGH_REPLICAS: 19,
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: 20,
  INVALID_REQUIRED_ACKS: 21,
  ILLEGAL_GENERATION: 22,
  INCONSISTENT_GROUP_PROTOCOL: 23,
  INVALID_GROUP_ID: 24,
  UNKNOWN_MEMBER_ID: 25,
  INVALID_SESSION_TIMEOUT: 26,
  REBALANCE_IN_PROGRESS: 27,
  INVALID_COMMIT_OFFSET_SIZE: 28,
  TOPIC_AUTHORIZATION_FAILED: 29,
  GROUP_AUTHORIZATION_FAILED: 30,
  CLUSTER_AUTHORIZATION_FAILED: 31,
  INVALID_TIMESTAMP: 32,
  UNSUPPORTED_SASL_MECHANISM: 33,
  ILLEGAL_SASL_STATE: 34,
  UNSUPPORTED_VERSION: 35,
  TOPIC_ALREADY_EXISTS: 36,
  INVALID_PARTITIONS: 37,
  INVALID_REPLICATION_FACTOR: 38,
  INVALID_REPLICA_ASSIGNMENT: 39,
  INVALID_CONFIG: 40,
  NOT_CONTROLLER: 41,
  INVALID_REQUEST: 42,
  UNSUPPORTED_FOR_MESSAGE_FORMAT: 43,
  POLICY_VIOLATION: 44,
  OUT_OF_ORDER_SEQUENCE_NUMBER: 45,
  DUPLICATE_SEQUENCE_NUMBER: 46,
  INVALID_PRODUCER_EPOCH: 47,
  INVALID_TXN_STATE: 48,
  INVALID_PRODUCER_ID_MAPPING: 49,
  INVALID_TRANSACTION_TIMEOUT: 50,
  CONCURRENT_TRANSACTIONS: 51,
  TRANSACTION_COORDINATOR_FENCED: 52,
  TRANSACTIONAL_ID_AUTHORIZATION_FAILED: 53,
  SECURITY_DISABLED: 54,
  OPERATION_NOT_ATTEMPTED: 55,
  KAFKA_STORAGE_ERROR: 56,
  LOG_DIR_NOT_FOUND: 57,
  SASL_AUTHENTICATION_FAILED: 58,
  UNKNOWN_PRODUCER_ID: 59,
  REASSIGNMENT_IN_PROGRESS: 60,
  DELEGATION_TOKEN_AUTH_DISABLED: 61,
  DELEGATION_TOKEN_NOT_FOUND: 62,
  DELEGATION_TOKEN_OWNER_MISMATCH: 63,
  DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: 64,
  DELEGATION_TOKEN_AUTHORIZATION_FAILED: 65,
  DELEGATION_TOKEN_EXPIRED: 66,
  INVALID_PRINCIPAL_TYPE: 67,
  NON_EMPTY_GROUP: 68,
  GROUP_ID_NOT_FOUND: 69,
  FETCH_SESSION_ID_NOT_FOUND: 70,
  INVALID_FETCH_SESSION_EPOCH: 71,
  LISTENER_NOT_FOUND: 72,
  TOPIC_DELETION_DISABLED: 73,
  FENCED_LEADER_EPOCH: 74,
  UNKNOWN_LEADER_EPOCH: 75,
  UNSUPPORTED_COMPRESSION_TYPE: 76,
  STALE_BROKER_EPOCH: 77,
  OFFSET_NOT_AVAILABLE: 78,
  MEMBER_ID_REQUIRED: 79,
  PREFERRED_LEADER_NOT_AVAILABLE: 80,
  GROUP_MAX_SIZE_REACHED: 81,
  FENCED_INSTANCE_ID: 82,
  ELIGIBLE_LEADERS_NOT_AVAILABLE: 83,
  ELECTION_NOT_NEEDED: 84,
  NO_REASSIGNMENT_IN_PROGRESS: 85,
  GROUP_SUBSCRIBED_TO_TOPIC: 86,
  INVALID_RECORD: 87,
  UNSTABLE_OFFSET_COMMIT: 88,
  THROTTLING_QUOTA_EXCEEDED: 89,
  PRODUCER_FENCED: 90,
  RESOURCE_NOT_FOUND: 91,
  DUPLICATE_RESOURCE: 92,
  UNACCEPTABLE_CREDENTIAL: 93,
  INCONSISTENT_VOTER_SET: 94,
  INVALID_UPDATE_VERSION: 95,
  FEATURE_UPDATE_FAILED: 96,
  PRINCIPAL_DESERIALIZATION_FAILURE: 97,
  SNAPSHOT_NOT_FOUND: 98,
  POSITION_OUT_OF_RANGE: 99,
  UNKNOWN_TOPIC_ID: 100,
  DUPLICATE_BROKER_REGISTRATION: 101,
  BROKER_ID_NOT_REGISTERED: 102,
  INCONSISTENT_TOPIC_ID: 103,
  INCONSISTENT_CLUSTER_ID: 104,
  TRANSACTIONAL_ID_NOT_FOUND: 105,
  FETCH_SESSION_TOPIC_ID_ERROR: 106,
  INELIGIBLE_REPLICA: 107,
  NEW_LEADER_ELECTED: 108,
  OFFSET_MOVED_TO_TIERED_STORAGE: 109,
  FENCED_MEMBER_EPOCH: 110,
  UNRELEASED_INSTANCE_ID: 111,
  UNSUPPORTED_ASSIGNOR: 112,
  STALE_MEMBER_EPOCH: 113,
  MISMATCHED_ENDPOINT_TYPE: 114,
  UNSUPPORTED_ENDPOINT_TYPE: 115,
  UNKNOWN_CONTROLLER_ID: 116,
  UNKNOWN_SUBSCRIPTION_ID: 117,
  TELEMETRY_TOO_LARGE: 118,
  INVALID_REGISTRATION: 119,
  TRANSACTION_ABORTABLE: 120,
  INVALID_RECORD_STATE: 121,
  SHARE_SESSION_NOT_FOUND: 122,
  INVALID_SHARE_SESSION_EPOCH: 123,
  FENCED_STATE_EPOCH: 124,
  INVALID_VOTER_KEY: 125,
  DUPLICATE_VOTER: 126,
  VOTER_NOT_FOUND: 127,
  INVALID_REGULAR_EXPRESSION: 128,
  REBOOTSTRAP_REQUIRED: 129,
  STREAMS_INVALID_TOPOLOGY: 130,
  STREAMS_INVALID_TOPOLOGY_EPOCH: 131,
  STREAMS_TOPOLOGY_FENCED: 132,
  SHARE_SESSION_LIMIT_REACHED: 133,
} as const

/** One of Kafka's error codes. */
export type KafkaErrorCode = (typeof KafkaError)[keyof typeof KafkaError]

const names = new Map<number, string>(
  Object.entries(KafkaError).map(([name, code]) => [code, name]),
)

/** The name of one of Kafka's error codes, or the number as text where it is not known. */
export function kafkaErrorName(code: number): string {
  return names.get(code) ?? String(code)
}

/** What a `SeglogError` may carry as its code. The first block mirrors the native status. */
export type ErrorCode =
  | 'BAD_ARGUMENT'
  | 'CLOSED'
  | 'IO'
  | 'NO_SPACE'
  | 'TOO_MANY_FILES'
  | 'LOCKED'
  | 'EXISTS'
  | 'NOT_FOUND'
  | 'FENCED'
  | 'READ_ONLY'
  | 'SEGMENT_FULL'
  | 'OFFSET_OUT_OF_RANGE'
  | 'CORRUPT'
  | 'BAD_MAGIC'
  | 'INVALID_RECORD'
  | 'TOO_LARGE'
  | 'OFFSET_TOO_LARGE'
  | 'BROKEN_PIPE'
  | 'UNSUPPORTED'
  | 'SHORT'
  | 'OK'
  // found in JavaScript
  | 'ADDON_UNAVAILABLE'
  | 'CONFLICT'
  | 'MALFORMED_FRAME'
  | 'UNSUPPORTED_VERSION'
  | 'UNSUPPORTED_COMPRESSION'
  | 'INVALID_CONFIG'
  | 'ADDRESS_IN_USE'
  | 'USAGE'
  // found by a client
  | 'BROKER_ERROR'
  | 'DISCONNECTED'
  | 'TIMED_OUT'

/** What the result codes of the addon mean, for the text of an error. */
export const statusWords = {
  OK: 'no damage',
  BAD_ARGUMENT: 'an argument is out of its range, of another type, or of no use in this state',
  CLOSED: 'it was closed',
  IO: 'a system call failed',
  NO_SPACE: 'no space is left on the disk',
  TOO_MANY_FILES: 'too many files or mappings are open; raise the limit (ulimit -n) or try later',
  LOCKED: 'locked by another process, or by another log or broker in this one; close that first',
  EXISTS: 'a file of that name is there already',
  NOT_FOUND: 'not found',
  FENCED: 'a write or sync failed before; close it and open it again',
  READ_ONLY: 'the segment is sealed and takes no more records',
  SEGMENT_FULL: 'the records do not fit into the segment',
  OFFSET_OUT_OF_RANGE: 'the offset is outside of what is stored',
  CORRUPT: 'the bytes of a batch are damaged (CORRUPT)',
  BAD_MAGIC: 'the batch is of another format than magic 2 (BAD_MAGIC)',
  INVALID_RECORD: 'the records of a batch break the rules of the format (INVALID_RECORD)',
  TOO_LARGE: 'more than the limit allows',
  OFFSET_TOO_LARGE: 'an offset is above 2^53 - 1 (OFFSET_TOO_LARGE)',
  BROKEN_PIPE: 'the other side has closed the connection',
  UNSUPPORTED: 'this kernel or file system cannot do it',
  SHORT: 'the file ends before the bytes that were asked for (SHORT)',
} as const satisfies Partial<Record<ErrorCode, string>>

/** An error with a code to switch on, and errno of the system call where there was one. */
export class SeglogError extends Error {
  override readonly name = 'SeglogError'
  readonly code: ErrorCode
  /** errno as a positive number, where a system call failed. */
  declare readonly errno?: number
  /** The first offset that is damaged, where a read found CORRUPT. */
  declare readonly offset?: bigint
  /** Where to read on behind the damage. */
  declare readonly nextOffset?: bigint

  constructor(
    code: ErrorCode,
    message: string,
    options: { errno?: number; cause?: unknown; offset?: number; nextOffset?: number } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.code = code
    if (options.errno !== undefined) this.errno = options.errno
    if (options.offset !== undefined) this.offset = BigInt(options.offset)
    if (options.nextOffset !== undefined) this.nextOffset = BigInt(options.nextOffset)
  }
}

/** The addon is not there, or was made for another platform: what was looked for, what helps. */
export function addonUnavailable(cause: unknown): SeglogError {
  const { header } = process.report.getReport() as { header: { glibcVersionRuntime?: string } }
  const libc = header.glibcVersionRuntime ? `glibc ${header.glibcVersionRuntime}` : 'musl'
  const isMissing = (cause as { code?: unknown }).code === 'MODULE_NOT_FOUND'
  const [reason = ''] = String(cause instanceof Error ? cause.message : cause).split('\n')
  const text = isMissing ? 'is missing' : `does not load (${reason})`
  return new SeglogError(
    'ADDON_UNAVAILABLE',
    `the native addon for ${process.platform}-${process.arch} with ${libc} ${text}; ` +
      'run "npm rebuild seglog" with g++, make and python3 installed',
    { cause },
  )
}

/** Characters of an error's text that a client is told. */
const TEXT_MAX = 1000

/**
 * An error that a request is answered with: thrown inside the broker, turned into its code at the
 * handler.
 */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
  readonly code: KafkaErrorCode

  constructor(code: KafkaErrorCode, message = kafkaErrorName(code)) {
    // It goes out as a string of the protocol, and may repeat what a client sent.
    super(message.length > TEXT_MAX ? `${message.slice(0, TEXT_MAX)}...` : message)
    this.code = code
  }
}
