// Pieces that both x86 paths share: moving 16 bytes of the message ahead, and taking the last 16
// bytes to their remainder. Included by files that use the same target attributes.
//
// A lane of 16 bytes is a polynomial of degree 127, reflected; its low half counts for x^64 more.
// Moving it n bits ahead multiplies it by x^n modulo P: two carry-less multiplications.
#ifndef SEGLOG_CRC32_X86_H_
#define SEGLOG_CRC32_X86_H_

#if defined(__x86_64__)

#include "crc32_math.h"

#include <immintrin.h>

#define SEGLOG_PCLMULQDQ __attribute__((always_inline, target("sse4.2,pclmul")))

namespace seglog::crc {

template <uint32_t P, size_t bits> SEGLOG_PCLMULQDQ static inline __m128i Ahead(__m128i lane) {
  constexpr uint64_t low = FoldFactor(P, bits + 64);
  constexpr uint64_t high = FoldFactor(P, bits);
  const __m128i factors = _mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low));
  return _mm_xor_si128(_mm_clmulepi64_si128(lane, factors, 0x00),
                       _mm_clmulepi64_si128(lane, factors, 0x11));
}

SEGLOG_PCLMULQDQ static inline __m128i Word(uint64_t value) {
  return _mm_cvtsi64_si128(static_cast<int64_t>(value));
}

// The state after a message whose last 16 bytes are `lane` and whose other bytes are zero.
template <uint32_t P> SEGLOG_PCLMULQDQ static inline uint32_t Remainder(__m128i lane) {
  if constexpr (P == kCastagnoli) {
    const uint64_t state = _mm_crc32_u64(0, static_cast<uint64_t>(_mm_cvtsi128_si64(lane)));
    return static_cast<uint32_t>(
        _mm_crc32_u64(state, static_cast<uint64_t>(_mm_extract_epi64(lane, 1))));
  } else {
    // The message stands 32 bits ahead of its end: 160 bits become 96, then 64, and Barrett's
    // method divides those by P.
    const __m128i upper = _mm_slli_si128(_mm_srli_si128(lane, 8), 4);
    const __m128i bits96 =
        _mm_xor_si128(upper, _mm_clmulepi64_si128(lane, Word(FoldFactor(P, 96)), 0x00));
    const __m128i bits64 = _mm_srli_si128(
        _mm_xor_si128(bits96, _mm_clmulepi64_si128(bits96, Word(FoldFactor(P, 64)), 0x00)), 8);
    const __m128i mask = Word(0xFFFFFFFF);
    const __m128i quotient =
        _mm_clmulepi64_si128(_mm_and_si128(bits64, mask), Word(Quotient(P)), 0x00);
    const __m128i multiple =
        _mm_clmulepi64_si128(_mm_and_si128(quotient, mask), Word(WholePolynomial(P)), 0x00);
    return static_cast<uint32_t>(_mm_extract_epi32(_mm_xor_si128(bits64, multiple), 1));
  }
}

} // namespace seglog::crc

#endif // defined(__x86_64__)

#endif // SEGLOG_CRC32_X86_H_
