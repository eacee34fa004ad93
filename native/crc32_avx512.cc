// The path of x86 processors with AVX-512 and VPCLMULQDQ: four lanes of 16 bytes in each of up to
// eight vectors, 512 bytes a round.
//
// Bytes that do not fill a vector are shifted in at the end, from a load that ends with the
// message. A masked load would do too, but is some fifty times slower where the bytes it leaves out
// lie on a page that is not there. Below 64 bytes the 16-byte path is as fast and does the work.
#if defined(__x86_64__)

// gcc 12 takes the operands that its own header leaves undefined on purpose for a mistake.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

#include "crc32_math.h"
#include "crc32_paths.h"
#include "crc32_x86.h"

#define SEGLOG_VPCLMULQDQ_TARGET                                                                   \
  target("sse4.2,pclmul,avx512f,avx512bw,avx512vl,avx512dq,avx512vbmi,vpclmulqdq,bmi2")
#define SEGLOG_VPCLMULQDQ __attribute__((always_inline, SEGLOG_VPCLMULQDQ_TARGET))

namespace seglog::crc {

constexpr size_t kVector = 64; // bytes
constexpr size_t kVectorBits = 512;

alignas(64) static const uint8_t kCounting[64] = {
    0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
    22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43,
    44, 45, 46, 47, 48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63};

SEGLOG_VPCLMULQDQ static inline __m512i Multiplied(__m512i vector, __m512i factors) {
  return _mm512_xor_si512(_mm512_clmulepi64_epi128(vector, factors, 0x00),
                          _mm512_clmulepi64_epi128(vector, factors, 0x11));
}

// `vector` moved ahead by whole vectors, plus the vector that stands there.
template <uint32_t P, size_t vectors>
SEGLOG_VPCLMULQDQ static inline __m512i Onto(__m512i vector, __m512i next) {
  constexpr uint64_t low = FoldFactor(P, vectors * kVectorBits + 64);
  constexpr uint64_t high = FoldFactor(P, vectors * kVectorBits);
  const __m512i factors =
      _mm512_broadcast_i32x4(_mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low)));
  return _mm512_ternarylogic_epi64(_mm512_clmulepi64_epi128(vector, factors, 0x00),
                                   _mm512_clmulepi64_epi128(vector, factors, 0x11), next, 0x96);
}

// Brings `count` neighbouring vectors and the `left` ones behind them (less than `count`) to one,
// halving the count, so that no chain of multiplications is longer than it must be.
template <uint32_t P, size_t count>
SEGLOG_VPCLMULQDQ static inline __m512i Descend(__m512i* vectors, const uint8_t* data,
                                                size_t left) {
  if constexpr (count == 1) {
    return vectors[0];
  } else {
    constexpr size_t half = count / 2;
#pragma GCC unroll 8
    for (size_t i = 0; i < half; i++)
      vectors[i] = Onto<P, half>(vectors[i], vectors[i + half]);
    if (left >= half) {
#pragma GCC unroll 8
      for (size_t i = 0; i < half; i++) {
        vectors[i] = Onto<P, half>(vectors[i], _mm512_loadu_si512(data + i * kVector));
      }
      data += half * kVector;
      left -= half;
    }
    return Descend<P, half>(vectors, data, left);
  }
}

// Brings `first` and the `left` vectors at `data`, at least count - 1, to one.
template <uint32_t P, size_t count>
SEGLOG_VPCLMULQDQ static inline __m512i Gather(__m512i first, const uint8_t* data, size_t left) {
  __m512i vectors[count];
  vectors[0] = first;
#pragma GCC unroll 8
  for (size_t i = 1; i < count; i++) {
    vectors[i] = _mm512_loadu_si512(data + (i - 1) * kVector);
  }
  data += (count - 1) * kVector;
  for (left -= count - 1; left >= count; left -= count, data += count * kVector) {
#pragma GCC unroll 8
    for (size_t i = 0; i < count; i++) {
      vectors[i] = Onto<P, count>(vectors[i], _mm512_loadu_si512(data + i * kVector));
    }
  }
  return Descend<P, count>(vectors, data, left);
}

// The four lanes as one: the last stays where it is, the others move up to it.
template <uint32_t P> SEGLOG_VPCLMULQDQ static inline __m128i Lane(__m512i vector) {
  const __m512i factors = _mm512_set_epi64(
      0, 0, static_cast<int64_t>(FoldFactor(P, 128)), static_cast<int64_t>(FoldFactor(P, 192)),
      static_cast<int64_t>(FoldFactor(P, 256)), static_cast<int64_t>(FoldFactor(P, 320)),
      static_cast<int64_t>(FoldFactor(P, 384)), static_cast<int64_t>(FoldFactor(P, 448)));
  const __m512i moved = Multiplied(vector, factors);
  const __m256i two =
      _mm256_xor_si256(_mm512_castsi512_si256(moved), _mm512_extracti64x4_epi64(moved, 1));
  const __m128i one = _mm_xor_si128(_mm256_castsi256_si128(two), _mm256_extracti128_si256(two, 1));
  return _mm_xor_si128(one, _mm512_extracti32x4_epi32(vector, 3));
}

// `vector` and the `rest` bytes behind it, 1 to 63, as one vector. Loads the 64 bytes up to their
// end, so that at least 64 - rest bytes of the message must lie before `data`.
template <uint32_t P>
SEGLOG_VPCLMULQDQ static inline __m512i Append(__m512i vector, const uint8_t* data, size_t rest) {
  // Turned left by `rest` bytes: in front what stays, behind it the bytes that move ahead.
  const __m512i turn =
      _mm512_add_epi8(_mm512_load_si512(kCounting), _mm512_set1_epi8(static_cast<char>(rest)));
  const __m512i turned = _mm512_permutexvar_epi8(turn, vector);
  const __mmask64 behind = ~uint64_t{0} << (kVector - rest);
  const __m512i last =
      _mm512_mask_blend_epi8(behind, turned, _mm512_loadu_si512(data + rest - kVector));
  return Onto<P, 1>(_mm512_maskz_mov_epi8(behind, turned), last);
}

// REQUIRES: length >= 64.
template <uint32_t P>
SEGLOG_VPCLMULQDQ static inline uint32_t FoldVectors(uint32_t state, const uint8_t* data,
                                                     size_t length) {
  const __m512i state_first =
      _mm512_zextsi128_si512(_mm_cvtsi32_si128(static_cast<int32_t>(state)));
  __m512i vector = _mm512_xor_si512(_mm512_loadu_si512(data), state_first);
  const size_t left = length / kVector - 1;
  const size_t rest = length % kVector;
  data += kVector;
  if (left >= 7) {
    vector = Gather<P, 8>(vector, data, left);
  } else if (left >= 3) {
    vector = Gather<P, 4>(vector, data, left);
  } else if (left >= 1) {
    vector = Gather<P, 2>(vector, data, left);
  }
  if (rest > 0)
    vector = Append<P>(vector, data + left * kVector, rest);
  return Remainder<P>(Lane<P>(vector));
}

__attribute__((SEGLOG_VPCLMULQDQ_TARGET)) static uint32_t
VpclmulqdqLongCrc32c(uint32_t state, const uint8_t* data, size_t length) {
  return FoldVectors<kCastagnoli>(state, data, length);
}

__attribute__((SEGLOG_VPCLMULQDQ_TARGET)) static uint32_t
VpclmulqdqLongCrc32(uint32_t state, const uint8_t* data, size_t length) {
  return FoldVectors<kIeee>(state, data, length);
}

static uint32_t VpclmulqdqCrc32c(uint32_t state, const uint8_t* data, size_t length) {
  return (length < kVector ? kPclmulqdq.crc32c : VpclmulqdqLongCrc32c)(state, data, length);
}

static uint32_t VpclmulqdqCrc32(uint32_t state, const uint8_t* data, size_t length) {
  return (length < kVector ? kPclmulqdq.crc32 : VpclmulqdqLongCrc32)(state, data, length);
}

// __builtin_cpu_supports also asks the operating system (XGETBV) whether it saves these registers.
static bool HasVpclmulqdq() {
  __builtin_cpu_init();
  return kPclmulqdq.supported() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vbmi") &&
         __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("vpclmulqdq");
}

const Path kVpclmulqdq = {"vpclmulqdq", HasVpclmulqdq, VpclmulqdqCrc32c, VpclmulqdqCrc32};

} // namespace seglog::crc

#endif // defined(__x86_64__)
