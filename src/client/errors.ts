/**
 * What a client is refused: Kafka's error codes, found in a response, as errors with the code, its
 * name and whether another attempt may do better. What the network does is a plain `SeglogError`:
 * DISCONNECTED (the connection could not be made, or is gone: whether the request was carried out
 * is not known) and TIMED_OUT (no answer in time; the same is not known).
 */
import { KafkaError, kafkaErrorName, SeglogError } from '../errors.js'

/** Kafka's retriable errors: they go away by themselves, or with newer metadata. */
const retriableCodes = new Set<number>([
  KafkaError.CORRUPT_MESSAGE,
  KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
  KafkaError.LEADER_NOT_AVAILABLE,
  KafkaError.NOT_LEADER_OR_FOLLOWER,
  KafkaError.REQUEST_TIMED_OUT,
  KafkaError.REPLICA_NOT_AVAILABLE,
  KafkaError.NETWORK_EXCEPTION,
  KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
  KafkaError.COORDINATOR_NOT_AVAILABLE,
  KafkaError.NOT_COORDINATOR,
  KafkaError.NOT_ENOUGH_REPLICAS,
  KafkaError.NOT_ENOUGH_REPLICAS_AFTER_APPEND,
  KafkaError.NOT_CONTROLLER,
  KafkaError.CONCURRENT_TRANSACTIONS,
  KafkaError.KAFKA_STORAGE_ERROR,
  KafkaError.FETCH_SESSION_ID_NOT_FOUND,
  KafkaError.INVALID_FETCH_SESSION_EPOCH,
  KafkaError.LISTENER_NOT_FOUND,
  KafkaError.FENCED_LEADER_EPOCH,
  KafkaError.UNKNOWN_LEADER_EPOCH,
  KafkaError.OFFSET_NOT_AVAILABLE,
  KafkaError.PREFERRED_LEADER_NOT_AVAILABLE,
  KafkaError.ELIGIBLE_LEADERS_NOT_AVAILABLE,
  KafkaError.UNSTABLE_OFFSET_COMMIT,
  KafkaError.THROTTLING_QUOTA_EXCEEDED,
  KafkaError.UNKNOWN_TOPIC_ID,
  KafkaError.INCONSISTENT_TOPIC_ID,
  KafkaError.FETCH_SESSION_TOPIC_ID_ERROR,
])

/** Those after which metadata, or the coordinator, is to be looked up anew. */
const staleCodes = new Set<number>([
  KafkaError.UNKNOWN_TOPIC_OR_PARTITION,
  KafkaError.LEADER_NOT_AVAILABLE,
  KafkaError.NOT_LEADER_OR_FOLLOWER,
  KafkaError.REPLICA_NOT_AVAILABLE,
  KafkaError.NETWORK_EXCEPTION,
  KafkaError.COORDINATOR_NOT_AVAILABLE,
  KafkaError.NOT_COORDINATOR,
  KafkaError.NOT_CONTROLLER,
  KafkaError.KAFKA_STORAGE_ERROR,
  KafkaError.LISTENER_NOT_FOUND,
  KafkaError.FENCED_LEADER_EPOCH,
  KafkaError.UNKNOWN_LEADER_EPOCH,
  KafkaError.UNKNOWN_TOPIC_ID,
  KafkaError.INCONSISTENT_TOPIC_ID,
])

/** Characters of a broker's text that are repeated. */
const TEXT_MAX = 1000

/** A broker's answer that says no. `code` is BROKER_ERROR. */
export class BrokerError extends SeglogError {
  /** Kafka's number; one that this client does not know is kept as it came. */
  readonly kafkaCode: number
  readonly kafkaName: string
  readonly isRetriable: boolean
  /** Where to send what failed is to be looked up anew. */
  readonly isStale: boolean

  /** `what` names the resource, such as `topic orders`; `text` is what the broker adds. */
  constructor(kafkaCode: number, what: string, text?: string | null) {
    const name = kafkaErrorName(kafkaCode)
    // Brokers add the name of the code where they have nothing to say.
    const told = text && text !== name ? ` (${oneLine(text)})` : ''
    super('BROKER_ERROR', `${what}: ${name}${told}`)
    this.kafkaCode = kafkaCode
    this.kafkaName = name
    this.isRetriable = retriableCodes.has(kafkaCode)
    this.isStale = staleCodes.has(kafkaCode)
  }
}

/** Without what would steer a terminal. */
function oneLine(text: string): string {
  const short = text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX)}...` : text
  return short.replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim()
}

/** Throws where a response carries an error. */
export function checkCode(kafkaCode: number, what: string, text?: string | null): void {
  if (kafkaCode !== KafkaError.NONE) throw new BrokerError(kafkaCode, what, text)
}

/** Whether the same request may succeed when it is sent again. */
export function isRetriable(error: unknown): boolean {
  if (error instanceof BrokerError) return error.isRetriable
  return error instanceof SeglogError && (error.code === 'DISCONNECTED' || isTimeout(error))
}

/** Whether a cached place to send to is to be forgotten. */
export function isStale(error: unknown): boolean {
  return error instanceof BrokerError ? error.isStale : isRetriable(error)
}

function isTimeout(error: SeglogError): boolean {
  return error.code === 'TIMED_OUT'
}
