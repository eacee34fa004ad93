// CRC-32C (Castagnoli; RFC 3720) and CRC-32 (IEEE 802.3) of bytes in memory. Pure functions,
// callable from any thread. `seed` is the sum of the bytes before, or 0: sums may be continued over
// chunks.
#ifndef SEGLOG_CRC32_H_
#define SEGLOG_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace seglog {

uint32_t Crc32c(const void* data, size_t length, uint32_t seed);
uint32_t Crc32(const void* data, size_t length, uint32_t seed);
// The path in use: 'portable' here.
const char* CrcPath();

} // namespace seglog

#endif // SEGLOG_CRC32_H_
