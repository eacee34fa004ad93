/**
 * Bit sets of what a client may do without ACLs: every operation that Kafka defines for the
 * resource (KIP-430).
 */
export const TOPIC_OPERATIONS = 3576
export const CLUSTER_OPERATIONS = 8096
export const GROUP_OPERATIONS = 3400
/** Where the request did not ask. */
export const OPERATIONS_NOT_ASKED = -0x8000_0000
