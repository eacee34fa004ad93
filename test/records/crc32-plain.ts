/** CRC-32 (IEEE 802.3) bit by bit, as an oracle that shares nothing with the engine's. */
export function crc32(bytes: Uint8Array): number {
  let sum = 0xffffffff
  for (const byte of bytes) {
    sum ^= byte
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ ((sum & 1) * 0xedb88320)
  }
  return ~sum >>> 0
}
