// The path of ARMv8 processors with the CRC instructions. One instruction takes eight bytes, but
// the next must wait for it; so long messages are cut in three strands that run side by side and
// are then joined: the sum of a part is moved ahead by multiplying it with a power of x.
//
// Only the functions here carry the target attribute, so that the addon loads without the
// instructions; whether they are there is asked of the kernel.
#if defined(__aarch64__)

#include "crc32_math.h"
#include "crc32_paths.h"

#include <arm_acle.h>
#include <cstring>
#include <sys/auxv.h>

#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif

#define SEGLOG_ARMV8_CRC __attribute__((always_inline, target("+crc")))

namespace seglog::crc {

// Bytes of one strand. Joining costs about a hundred cycles, some five per cent of three strands.
constexpr size_t kStrand = 2048;

template <uint32_t P>
SEGLOG_ARMV8_CRC static inline uint32_t Eight(uint32_t state, const uint8_t* data) {
  uint64_t word;
  std::memcpy(&word, data, 8);
  return P == kCastagnoli ? __crc32cd(state, word) : __crc32d(state, word);
}

template <uint32_t P>
SEGLOG_ARMV8_CRC static inline uint32_t Strands(uint32_t state, const uint8_t* data,
                                                size_t length) {
  constexpr uint32_t one_ahead = PowerOfX(P, 8 * kStrand);
  for (; length >= 3 * kStrand; data += 3 * kStrand, length -= 3 * kStrand) {
    uint32_t second = 0;
    uint32_t third = 0;
    for (size_t i = 0; i < kStrand; i += 8) {
      state = Eight<P>(state, data + i);
      second = Eight<P>(second, data + kStrand + i);
      third = Eight<P>(third, data + 2 * kStrand + i);
    }
    second ^= Multiply(P, state, one_ahead);
    state = third ^ Multiply(P, second, one_ahead);
  }
  for (; length >= 8; data += 8, length -= 8)
    state = Eight<P>(state, data);
  for (; length > 0; data++, length--) {
    state = P == kCastagnoli ? __crc32cb(state, *data) : __crc32b(state, *data);
  }
  return state;
}

__attribute__((target("+crc"))) static uint32_t Armv8Crc32c(uint32_t state, const uint8_t* data,
                                                            size_t length) {
  return Strands<kCastagnoli>(state, data, length);
}

__attribute__((target("+crc"))) static uint32_t Armv8Crc32(uint32_t state, const uint8_t* data,
                                                           size_t length) {
  return Strands<kIeee>(state, data, length);
}

static bool HasArmv8Crc() {
  return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0;
}

const Path kArmv8 = {"armv8", HasArmv8Crc, Armv8Crc32c, Armv8Crc32};

} // namespace seglog::crc

#endif // defined(__aarch64__)
