// The path of any processor: slicing by 8, eight table look-ups for eight bytes. The tables, 8 KiB
// for each polynomial, are made by the compiler. The faster paths use it for a few left-over bytes.
#include "crc32_math.h"
#include "crc32_paths.h"

#include <cstring>

namespace seglog::crc {

static constexpr Table kCastagnoliTable = MakeTable(kCastagnoli);
static constexpr Table kIeeeTable = MakeTable(kIeee);

static inline uint32_t Sliced(const Table& table, uint32_t state, const uint8_t* data,
                              size_t length) {
  for (; length >= 8; data += 8, length -= 8) {
    uint64_t word;
    std::memcpy(&word, data, 8);
    word ^= state;
    state = table[7][word & 0xFF] ^ table[6][(word >> 8) & 0xFF] ^ table[5][(word >> 16) & 0xFF] ^
            table[4][(word >> 24) & 0xFF] ^ table[3][(word >> 32) & 0xFF] ^
            table[2][(word >> 40) & 0xFF] ^ table[1][(word >> 48) & 0xFF] ^ table[0][word >> 56];
  }
  for (; length > 0; data++, length--)
    state = (state >> 8) ^ table[0][(state ^ *data) & 0xFF];
  return state;
}

static uint32_t PortableCrc32c(uint32_t state, const uint8_t* data, size_t length) {
  return Sliced(kCastagnoliTable, state, data, length);
}

static uint32_t PortableCrc32(uint32_t state, const uint8_t* data, size_t length) {
  return Sliced(kIeeeTable, state, data, length);
}

const Path kPortable = {"portable", [] { return true; }, PortableCrc32c, PortableCrc32};

} // namespace seglog::crc
