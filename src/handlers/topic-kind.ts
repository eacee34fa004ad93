/** Topics that the brokers keep for themselves: clients see them and do not write to them. */
const INTERNAL = new Set(['__consumer_offsets', '__transaction_state'])

export function isInternal(topic: string): boolean {
  return INTERNAL.has(topic)
}
