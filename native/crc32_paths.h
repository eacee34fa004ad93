// The ways to compute the two checksums, for crc32.cc, which picks one, and for tests, which hold
// each against the others. A path is a pair of functions and the question whether this processor
// and this operating system can run them.
//
// Here a function works on the bare remainder: without the complements of crc32.h, `state` in and
// out. The bits of a remainder are reflected: bit 31 is the coefficient of x^0.
#ifndef SEGLOG_CRC32_PATHS_H_
#define SEGLOG_CRC32_PATHS_H_

#include <cstddef>
#include <cstdint>

namespace seglog::crc {

using Update = uint32_t (*)(uint32_t state, const uint8_t* data, size_t length);

struct Path {
  const char* name;
  bool (*supported)();
  Update crc32c;
  Update crc32;
};

// Every path that was compiled for this architecture, best first. The last one is portable and
// always supported.
constexpr size_t kPathsMax = 3;
struct Paths {
  const Path* items[kPathsMax];
  size_t count;
};
Paths AllPaths();

extern const Path kPortable; // crc32_portable.cc: slicing by 8

#if defined(__x86_64__)
extern const Path kPclmulqdq;  // crc32_x86.cc: carry-less multiplication of 16 bytes, SSE4.2
extern const Path kVpclmulqdq; // crc32_avx512.cc: the same of 64 bytes, AVX-512
#elif defined(__aarch64__)
extern const Path kArmv8; // crc32_arm.cc: the CRC instructions of ARMv8
#endif

} // namespace seglog::crc

#endif // SEGLOG_CRC32_PATHS_H_
