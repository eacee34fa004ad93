/** The set of operations that a client may do, as a number of bits (KIP-430). */

/** Stands where a client did not ask for them. */
export const OPERATIONS_UNASKED = -0x80000000
