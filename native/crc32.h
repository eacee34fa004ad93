// CRC-32C (Castagnoli, RFC 3720: what record batches of magic 2 carry) and CRC-32 (IEEE 802.3, as
// zlib's: what older messages carry), by the fastest path that this processor has.
//
// The path is chosen once, when the addon is loaded; see crc32_paths.h for the paths. Nothing is
// allocated, no byte outside [data, data + length) is read, and any alignment will do. Any thread.
//
// `seed` is 0 or the sum of what came before: Crc32c(b, n, Crc32c(a, m, 0)) is the sum of a and b
// together. This is zlib's convention: both complements are inside.
#ifndef SEGLOG_CRC32_H_
#define SEGLOG_CRC32_H_

#include <cstddef>
#include <cstdint>

namespace seglog {

uint32_t Crc32c(const void* data, size_t length, uint32_t seed);
uint32_t Crc32(const void* data, size_t length, uint32_t seed);

// "vpclmulqdq", "pclmulqdq", "armv8" or "portable".
const char* CrcPath();

} // namespace seglog

#endif // SEGLOG_CRC32_H_
