// From which size on a batch is written rather than copied into a mapping: measured, because it
// differs by an order of magnitude between machines. A copy pays for each page that it touches
// first, which is cheap on bare metal and dear under some hypervisors; a write pays for the call.
//
// Measured once per process, on a nameless file in the directory of the first log that is mapped,
// for a few milliseconds of the helper thread. Until then, and where it cannot be measured, the
// default holds.
#ifndef SEGLOG_CROSSING_H_
#define SEGLOG_CROSSING_H_

#include <cstddef>
#include <string>

namespace seglog {

class Crossing {
 public:
  static constexpr size_t kDefaultBytes = size_t{4} << 10;
  static constexpr size_t kBytesMin = 256;
  static constexpr size_t kBytesMax = size_t{16} << 10;

  // Batches below this many bytes are copied. From any thread.
  static size_t BelowBytes();
  // Does nothing from the second call on. Blocks; for the helper thread.
  static void Measure(const std::string& directory);
};

} // namespace seglog

#endif // SEGLOG_CROSSING_H_
