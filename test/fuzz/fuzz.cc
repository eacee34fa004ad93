// Random numbers, mutations and the loop of the fuzzers. See fuzz.h.
#include "fuzz.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace seglog::test {

uint64_t Random::Next() {
  // The generator "splitmix64".
  uint64_t z = (state_ += 0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

int64_t Interesting(Random* random) {
  static const int64_t values[] = {
      0,         1,         -1,         2,         61,        60,      INT8_MAX, INT16_MAX,
      INT32_MAX, INT32_MIN, UINT32_MAX, INT64_MAX, INT64_MIN, 1 << 20, -2,       int64_t{1} << 53};
  if (random->Chance(30))
    return static_cast<int64_t>(random->Next());
  const int64_t value = values[random->Below(sizeof values / sizeof values[0])];
  return static_cast<int64_t>(static_cast<uint64_t>(value) + random->Below(3) - 1);
}

static size_t MutateOnce(Random* random, Bytes* bytes) {
  const size_t size = bytes->size();
  const size_t at = random->Below(size);
  const size_t length =
      std::min<size_t>(size - at, 1 + random->Below(random->Chance(80) ? 8 : size));
  const auto from = bytes->begin() + static_cast<ptrdiff_t>(at);
  switch (random->Below(7)) {
  case 0:
    (*bytes)[at] ^= static_cast<uint8_t>(1 << random->Below(8));
    break;
  case 1:
    for (size_t i = 0; i < length; i++)
      (*bytes)[at + i] = static_cast<uint8_t>(random->Next());
    break;
  case 2: {
    uint8_t value[8];
    StoreBig<int64_t>(value, Interesting(random));
    const size_t width = std::min<size_t>(size_t{1} << random->Below(4), size - at);
    std::memcpy(bytes->data() + at, value + 8 - width, width);
    break;
  }
  case 3:
    std::fill_n(from, length, static_cast<uint8_t>(random->Chance(70) ? 0 : 0xff));
    break;
  case 4:
    bytes->erase(from, from + static_cast<ptrdiff_t>(length));
    break;
  case 5: {
    const Bytes copy(from, from + static_cast<ptrdiff_t>(length));
    bytes->insert(bytes->begin() + static_cast<ptrdiff_t>(random->Below(at + 1)), copy.begin(),
                  copy.end());
    return 0;
  }
  default:
    bytes->resize(random->Chance(50) ? at : size + random->Below(200));
  }
  return at;
}

size_t Mutate(Random* random, Bytes* bytes) {
  size_t lowest = bytes->size();
  for (uint64_t left = 1 + random->Below(3); left > 0 && !bytes->empty(); left--)
    lowest = std::min(lowest, MutateOnce(random, bytes));
  return lowest;
}

static double Number(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text == nullptr ? otherwise : std::strtod(text, nullptr);
}

void Fuzz(const char* name, int runs, const std::function<void(Random*)>& target) {
  using Clock = std::chrono::steady_clock;
  const double seconds = Number("SEGLOG_FUZZ_SECONDS", 0);
  const auto first = static_cast<uint64_t>(Number("SEGLOG_FUZZ_SEED", 1));
  const auto start = Clock::now();
  uint64_t seed = first;
  for (;; seed++) {
    if (seconds == 0 && seed - first >= static_cast<uint64_t>(runs))
      break;
    if (seconds > 0 && std::chrono::duration<double>(Clock::now() - start).count() > seconds)
      break;
    const int before = FailureCount();
    Random random(seed);
    target(&random);
    if (FailureCount() == before)
      continue;
    Fail(__FILE__, __LINE__, std::string(name) + ": SEGLOG_FUZZ_SEED=" + std::to_string(seed));
    break;
  }
  std::printf("     %s: %llu inputs\n", name, static_cast<unsigned long long>(seed - first));
}

} // namespace seglog::test
