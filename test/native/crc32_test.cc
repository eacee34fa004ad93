// Every path of the checksums that this processor can run, against a sum computed bit by bit.
// Messages lie between two pages that may not be touched, flush with one or the other, so that a
// read outside a message ends the program even where a sanitizer does not look.
#include "../../native/crc32.h"
#include "../../native/crc32_math.h"
#include "../../native/crc32_paths.h"
#include "test.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

using namespace seglog;

namespace {

constexpr size_t kLengthMax = 4096;
constexpr size_t kAlignments = 16;

// The definition: one bit at a time.
uint32_t Defined(uint32_t polynomial, const uint8_t* data, size_t length, uint32_t state) {
  for (size_t i = 0; i < length; i++) {
    state ^= data[i];
    for (int bit = 0; bit < 8; bit++)
      state = (state >> 1) ^ ((state & 1) != 0 ? polynomial : 0);
  }
  return state;
}

void Fill(uint8_t* data, size_t length, uint64_t seed) {
  for (size_t i = 0; i < length; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    data[i] = static_cast<uint8_t>(seed >> 56);
  }
}

// Memory with a page on either side that faults.
class Fenced {
 public:
  explicit Fenced(size_t pages) : page_(static_cast<size_t>(sysconf(_SC_PAGESIZE))) {
    length_ = pages * page_;
    void* base = mmap(nullptr, length_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(base != MAP_FAILED);
    base_ = static_cast<uint8_t*>(base);
    CHECK(mprotect(begin(), length_, PROT_READ | PROT_WRITE) == 0);
  }
  ~Fenced() { munmap(base_, length_ + 2 * page_); }
  Fenced(const Fenced&) = delete;
  Fenced& operator=(const Fenced&) = delete;
  uint8_t* begin() { return base_ + page_; }
  uint8_t* end() { return begin() + length_; }

 private:
  size_t page_;
  size_t length_;
  uint8_t* base_;
};

std::vector<const crc::Path*> Supported() {
  const crc::Paths all = crc::AllPaths();
  std::vector<const crc::Path*> supported;
  for (size_t i = 0; i < all.count; i++) {
    if (all.items[i]->supported())
      supported.push_back(all.items[i]);
  }
  return supported;
}

void Compare(const crc::Path* path, const uint8_t* data, size_t length, uint32_t state,
             uint32_t crc32c, uint32_t crc32) {
  const uint32_t actual32c = path->crc32c(state, data, length);
  const uint32_t actual32 = path->crc32(state, data, length);
  if (actual32c == crc32c && actual32 == crc32)
    return;
  test::Fail(__FILE__, __LINE__,
             std::string(path->name) + " is wrong at length " + std::to_string(length));
}

} // namespace

TEST(The_check_vector_gives_the_published_sums) {
  const char* vector = "123456789";
  CHECK_EQ(Crc32c(vector, 9, 0), 0xE3069283u);
  CHECK_EQ(Crc32(vector, 9, 0), 0xCBF43926u);
  for (const crc::Path* path : Supported()) {
    const auto* data = reinterpret_cast<const uint8_t*>(vector);
    CHECK_EQ(~path->crc32c(~0u, data, 9), 0xE3069283u);
    CHECK_EQ(~path->crc32(~0u, data, 9), 0xCBF43926u);
  }
}

TEST(The_vectors_of_RFC_3720_give_their_sums) {
  uint8_t data[32];
  std::memset(data, 0, 32);
  CHECK_EQ(Crc32c(data, 32, 0), 0x8A9136AAu);
  std::memset(data, 0xFF, 32);
  CHECK_EQ(Crc32c(data, 32, 0), 0x62A8AB43u);
  for (size_t i = 0; i < 32; i++)
    data[i] = static_cast<uint8_t>(i);
  CHECK_EQ(Crc32c(data, 32, 0), 0x46DD794Eu);
  for (size_t i = 0; i < 32; i++)
    data[i] = static_cast<uint8_t>(31 - i);
  CHECK_EQ(Crc32c(data, 32, 0), 0x113FDB5Cu);
}

TEST(Nothing_leaves_the_seed_as_it_is) {
  CHECK_EQ(Crc32c(nullptr, 0, 0), 0u);
  CHECK_EQ(Crc32(nullptr, 0, 0x12345678), 0x12345678u);
}

TEST(The_best_supported_path_is_chosen_and_the_portable_one_is_always_there) {
  const std::vector<const crc::Path*> paths = Supported();
  CHECK_EQ(std::string(CrcPath()), paths.front()->name);
  CHECK_EQ(std::string(paths.back()->name), "portable");
}

TEST(Every_path_is_right_for_every_length_and_alignment_without_reading_outside) {
  Fenced memory(2);
  Fill(memory.begin(), static_cast<size_t>(memory.end() - memory.begin()), 1);
  const std::vector<const crc::Path*> paths = Supported();
  const uint32_t state = 0xDEADBEEF;
  for (size_t alignment = 0; alignment < kAlignments; alignment++) {
    const uint8_t* data = memory.begin() + alignment;
    uint32_t crc32c = state;
    uint32_t crc32 = state;
    for (size_t length = 0; length <= kLengthMax; length++) {
      for (const crc::Path* path : paths)
        Compare(path, data, length, state, crc32c, crc32);
      crc32c = Defined(crc::kCastagnoli, data + length, 1, crc32c);
      crc32 = Defined(crc::kIeee, data + length, 1, crc32);
    }
  }
}

TEST(Every_path_stops_at_the_end_of_the_message) {
  Fenced memory(2);
  Fill(memory.begin(), static_cast<size_t>(memory.end() - memory.begin()), 2);
  for (size_t length = 0; length <= 1200; length++) {
    const uint8_t* data = memory.end() - length;
    const uint32_t crc32c = Defined(crc::kCastagnoli, data, length, 7);
    const uint32_t crc32 = Defined(crc::kIeee, data, length, 7);
    for (const crc::Path* path : Supported())
      Compare(path, data, length, 7, crc32c, crc32);
  }
}

TEST(Chunks_give_the_sum_of_the_whole) {
  std::vector<uint8_t> data(1500);
  Fill(data.data(), data.size(), 3);
  const uint32_t whole32c = Crc32c(data.data(), data.size(), 0);
  const uint32_t whole32 = Crc32(data.data(), data.size(), 0);
  for (size_t cut = 0; cut <= data.size(); cut++) {
    const size_t rest = data.size() - cut;
    CHECK_EQ(Crc32c(data.data() + cut, rest, Crc32c(data.data(), cut, 0)), whole32c);
    CHECK_EQ(Crc32(data.data() + cut, rest, Crc32(data.data(), cut, 0)), whole32);
  }
}

TEST(Long_messages_of_odd_lengths_agree_on_every_path) {
  std::vector<uint8_t> data(300001);
  Fill(data.data(), data.size(), 4);
  for (const size_t length : {8191u, 8193u, 65536u, 99999u, 300000u}) {
    const uint8_t* start = data.data() + 1;
    const uint32_t crc32c = Defined(crc::kCastagnoli, start, length, 0);
    const uint32_t crc32 = Defined(crc::kIeee, start, length, 0);
    for (const crc::Path* path : Supported())
      Compare(path, start, length, 0, crc32c, crc32);
  }
}

TEST(Constants_of_the_folding_follow_from_the_polynomial) {
  for (const uint32_t polynomial : {crc::kCastagnoli, crc::kIeee}) {
    // x^a * x^b = x^(a+b), and x^32 is what is left of the polynomial.
    CHECK_EQ(crc::PowerOfX(polynomial, 32), polynomial);
    CHECK_EQ(
        crc::Multiply(polynomial, crc::PowerOfX(polynomial, 100), crc::PowerOfX(polynomial, 411)),
        crc::PowerOfX(polynomial, 511));
    CHECK_EQ(crc::Quotient(polynomial) & 1, 1u);
  }
  // Published by Intel's paper on fast CRC computation, for the IEEE polynomial.
  CHECK_EQ(crc::WholePolynomial(crc::kIeee), 0x1DB710641u);
  CHECK_EQ(crc::Quotient(crc::kIeee), 0x1F7011641u);
}
