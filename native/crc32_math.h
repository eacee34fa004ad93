// Arithmetic of polynomials over two elements, modulo a generator of degree 32, at compile time: it
// yields every constant of the checksums, so that none has to be believed.
//
// All values are reflected: in a word of n bits, bit i is the coefficient of x^(n-1-i). A product
// of two reflected words of n bits by carry-less multiplication has 2n-1 bits and, read as a word
// of 2n bits, stands for the product times x. `FoldFactor` takes that x back.
#ifndef SEGLOG_CRC32_MATH_H_
#define SEGLOG_CRC32_MATH_H_

#include <array>
#include <cstddef>
#include <cstdint>

static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the checksums load words as they lie");

namespace seglog::crc {

constexpr uint32_t kCastagnoli = 0x82F63B78; // CRC-32C
constexpr uint32_t kIeee = 0xEDB88320;       // CRC-32

constexpr uint32_t kOne = 0x80000000; // x^0

constexpr uint32_t TimesX(uint32_t polynomial, uint32_t value) {
  return (value >> 1) ^ ((value & 1) != 0 ? polynomial : 0);
}

// x^n mod P.
constexpr uint32_t PowerOfX(uint32_t polynomial, size_t n) {
  uint32_t value = kOne;
  for (size_t i = 0; i < n; i++)
    value = TimesX(polynomial, value);
  return value;
}

// a * b mod P.
constexpr uint32_t Multiply(uint32_t polynomial, uint32_t a, uint32_t b) {
  uint32_t product = 0;
  for (int bit = 31; bit >= 0; bit--) {
    product ^= ((a >> bit) & 1) != 0 ? b : 0;
    b = TimesX(polynomial, b);
  }
  return product;
}

// What to multiply 64 reflected bits with, to get them times x^n mod P as 128 reflected bits.
constexpr uint64_t FoldFactor(uint32_t polynomial, size_t n) {
  return static_cast<uint64_t>(PowerOfX(polynomial, n - 1)) << 32;
}

// P itself, 33 bits.
constexpr uint64_t WholePolynomial(uint32_t polynomial) {
  return (static_cast<uint64_t>(polynomial) << 1) | 1;
}

// The quotient of x^64 and P, 33 bits: Barrett's constant.
constexpr uint64_t Quotient(uint32_t polynomial) {
  // Dividing by hand: after step s, `rest` is x^s mod P; a step that overflows gives a bit of the
  // quotient. The first one is x^32, at step 32.
  uint64_t quotient = 0;
  uint32_t rest = kOne;
  for (int step = 1; step <= 64; step++) {
    if ((rest & 1) != 0)
      quotient |= uint64_t{1} << (step - 32);
    rest = TimesX(polynomial, rest);
  }
  return quotient;
}

using Table = std::array<std::array<uint32_t, 256>, 8>;

// table[k][b]: the remainder of byte b followed by k zero bytes.
constexpr Table MakeTable(uint32_t polynomial) {
  Table table{};
  for (uint32_t byte = 0; byte < 256; byte++) {
    uint32_t value = byte;
    for (int bit = 0; bit < 8; bit++)
      value = TimesX(polynomial, value);
    table[0][byte] = value;
  }
  for (size_t k = 1; k < 8; k++) {
    for (uint32_t byte = 0; byte < 256; byte++) {
      const uint32_t value = table[k - 1][byte];
      table[k][byte] = (value >> 8) ^ table[0][value & 0xFF];
    }
  }
  return table;
}

} // namespace seglog::crc

#endif // SEGLOG_CRC32_MATH_H_
