// What the fuzzers of the engine share: random numbers that a seed repeats, and mutations of bytes.
// A target is a TEST whose name begins with Fuzz; it runs a fixed number of inputs from a fixed
// seed, or, by the environment, SEGLOG_FUZZ_SECONDS from SEGLOG_FUZZ_SEED. A fault is a CHECK that
// fails or a word of the sanitizers; the seed of the input is printed with it.
#ifndef SEGLOG_TEST_FUZZ_H_
#define SEGLOG_TEST_FUZZ_H_

#include "../native/support.h"

#include <functional>

namespace seglog::test {

class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed * 2 + 1) {}
  uint64_t Next();
  // In [0, below).
  uint64_t Below(uint64_t below) { return below == 0 ? 0 : Next() % below; }
  bool Chance(int percent) { return Below(100) < static_cast<uint64_t>(percent); }

 private:
  uint64_t state_;
};

// Changes, moves, cuts or adds some bytes. Returns the lowest position that may have changed.
size_t Mutate(Random* random, Bytes* bytes);

// A value where many a check breaks, or any.
int64_t Interesting(Random* random);

// Runs `target` with a fresh seed for each input, `runs` times unless the environment says how
// long, and stops at the first input that fails.
void Fuzz(const char* name, int runs, const std::function<void(Random*)>& target);

} // namespace seglog::test

#endif // SEGLOG_TEST_FUZZ_H_
