// Table-driven CRCs, eight bytes a step. See crc32.h.
#include "crc32.h"

#include <array>
#include <cstring>

namespace seglog {

namespace {

using Tables = std::array<std::array<uint32_t, 256>, 8>;

constexpr Tables MakeTables(uint32_t polynomial) {
  Tables tables{};
  for (uint32_t i = 0; i < 256; i++) {
    uint32_t sum = i;
    for (int bit = 0; bit < 8; bit++)
      sum = (sum >> 1) ^ ((sum & 1) != 0 ? polynomial : 0);
    tables[0][i] = sum;
  }
  for (uint32_t i = 0; i < 256; i++) {
    for (size_t slice = 1; slice < 8; slice++) {
      const uint32_t before = tables[slice - 1][i];
      tables[slice][i] = (before >> 8) ^ tables[0][before & 0xff];
    }
  }
  return tables;
}

constexpr Tables kCastagnoli = MakeTables(0x82f63b78);
constexpr Tables kIeee = MakeTables(0xedb88320);

uint32_t Sum(const Tables& tables, const void* data, size_t length, uint32_t seed) {
  const auto* bytes = static_cast<const uint8_t*>(data);
  uint32_t sum = ~seed;
  for (; length >= 8; length -= 8, bytes += 8) {
    uint64_t word;
    std::memcpy(&word, bytes, 8); // little endian on every platform that is built for
    word ^= sum;
    sum = 0;
    for (int slice = 0; slice < 8; slice++)
      sum ^= tables[7 - slice][(word >> (8 * slice)) & 0xff];
  }
  for (; length > 0; length--, bytes++)
    sum = (sum >> 8) ^ tables[0][(sum ^ *bytes) & 0xff];
  return ~sum;
}

} // namespace

uint32_t Crc32c(const void* data, size_t length, uint32_t seed) {
  return Sum(kCastagnoli, data, length, seed);
}

uint32_t Crc32(const void* data, size_t length, uint32_t seed) {
  return Sum(kIeee, data, length, seed);
}

const char* CrcPath() {
  return "portable";
}

} // namespace seglog
