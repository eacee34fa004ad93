// The path of x86 processors since 2010: carry-less multiplication (PCLMULQDQ) folds 64 bytes a
// round in four lanes; the CRC-32C instruction of SSE4.2 takes what is below 16 bytes.
//
// Only the functions here carry the target attribute, so that the addon loads on a processor
// without these instructions. (Lambdas do not inherit the attribute; hence plain functions.)
#if defined(__x86_64__)

#include "crc32_x86.h"

#include "crc32_math.h"
#include "crc32_paths.h"

#include <cstring>

namespace seglog::crc {

// From kSlide + r: indices that move a lane's first r bytes to its end. From kSlide + 16 + r: those
// that move its last 16 - r bytes to its front. An index with the top bit gives zero.
alignas(64) static const uint8_t kSlide[48] = {
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
    0,    1,    2,    3,    4,    5,    6,    7,    8,    9,    10,   11,   12,   13,   14,   15,
    0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80};

SEGLOG_PCLMULQDQ static inline __m128i Load(const uint8_t* data) {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(data));
}

// `lane` and the `rest` bytes behind it, 1 to 15, as one lane. Loads the 16 bytes up to their end,
// so that at least 16 - rest bytes of the message must lie before `data`.
template <uint32_t P>
SEGLOG_PCLMULQDQ static inline __m128i Append(__m128i lane, const uint8_t* data, size_t rest) {
  const __m128i to_front = Load(kSlide + 16 + rest);
  const __m128i first = _mm_shuffle_epi8(lane, Load(kSlide + rest));
  const __m128i last =
      _mm_blendv_epi8(_mm_shuffle_epi8(lane, to_front), Load(data + rest - 16), to_front);
  return _mm_xor_si128(Ahead<P, 128>(first), last);
}

__attribute__((target("sse4.2"))) static uint32_t Short(uint32_t state, const uint8_t* data,
                                                        size_t length) {
  uint64_t word;
  for (; length >= 8; data += 8, length -= 8) {
    std::memcpy(&word, data, 8);
    state = static_cast<uint32_t>(_mm_crc32_u64(state, word));
  }
  if ((length & 4) != 0) {
    uint32_t half;
    std::memcpy(&half, data, 4);
    state = _mm_crc32_u32(state, half);
    data += 4;
  }
  for (length &= 3; length > 0; data++, length--)
    state = _mm_crc32_u8(state, *data);
  return state;
}

template <uint32_t P>
SEGLOG_PCLMULQDQ static inline uint32_t Fold(uint32_t state, const uint8_t* data, size_t length) {
  __m128i lane = _mm_xor_si128(Load(data), _mm_cvtsi32_si128(static_cast<int32_t>(state)));
  if (length >= 64) {
    __m128i lane1 = Load(data + 16);
    __m128i lane2 = Load(data + 32);
    __m128i lane3 = Load(data + 48);
    for (data += 64, length -= 64; length >= 64; data += 64, length -= 64) {
      lane = _mm_xor_si128(Ahead<P, 512>(lane), Load(data));
      lane1 = _mm_xor_si128(Ahead<P, 512>(lane1), Load(data + 16));
      lane2 = _mm_xor_si128(Ahead<P, 512>(lane2), Load(data + 32));
      lane3 = _mm_xor_si128(Ahead<P, 512>(lane3), Load(data + 48));
    }
    lane = _mm_xor_si128(Ahead<P, 256>(lane), lane2);
    lane1 = _mm_xor_si128(Ahead<P, 256>(lane1), lane3);
    lane = _mm_xor_si128(Ahead<P, 128>(lane), lane1);
  } else {
    data += 16;
    length -= 16;
  }
  for (; length >= 16; data += 16, length -= 16) {
    lane = _mm_xor_si128(Ahead<P, 128>(lane), Load(data));
  }
  if (length > 0)
    lane = Append<P>(lane, data, length);
  return Remainder<P>(lane);
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t
PclmulqdqCrc32c(uint32_t state, const uint8_t* data, size_t length) {
  return length < 16 ? Short(state, data, length) : Fold<kCastagnoli>(state, data, length);
}

__attribute__((target("sse4.2,pclmul"))) static uint32_t
PclmulqdqCrc32(uint32_t state, const uint8_t* data, size_t length) {
  return length < 16 ? kPortable.crc32(state, data, length) : Fold<kIeee>(state, data, length);
}

static bool HasPclmulqdq() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("pclmul");
}

const Path kPclmulqdq = {"pclmulqdq", HasPclmulqdq, PclmulqdqCrc32c, PclmulqdqCrc32};

} // namespace seglog::crc

#endif // defined(__x86_64__)
