// Times both ways of appending for doubling sizes. See crossing.h.
#include "crossing.h"

#include "mapping.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <limits>

namespace seglog {

namespace {

// Each trial takes pages that nobody has touched, as appends do.
constexpr uint64_t kTrialBytes = uint64_t{64} << 10;
constexpr int kRounds = 4;
constexpr int kSizes = 7; // 256 bytes to 16 KiB
static_assert(Crossing::kBytesMin << (kSizes - 1) == Crossing::kBytesMax,
              "sizes end at the maximum");
constexpr uint64_t kFileBytes = kTrialBytes * kRounds * kSizes;

std::atomic<size_t> below_bytes{Crossing::kDefaultBytes};
std::atomic<bool> measured{false};

template <typename Act> int64_t Nanoseconds(Act act) {
  const auto begin = std::chrono::steady_clock::now();
  act();
  const auto end = std::chrono::steady_clock::now();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(end - begin).count();
}

// The least that a trial took, of copying and of writing: what disturbs only adds.
struct Times {
  int64_t copied = std::numeric_limits<int64_t>::max();
  int64_t written = std::numeric_limits<int64_t>::max();
};

bool Try(File* file, const Window& window, uint64_t position, size_t size, Times* times) {
  uint8_t batch[Crossing::kBytesMax];
  std::memset(batch, 1, sizeof batch);
  const uint64_t end = position + kTrialBytes;
  bool ok = true;
  const int64_t copied = Nanoseconds([&] {
    for (uint64_t at = position; at < end; at += size)
      std::memcpy(window.at(at), batch, size);
  });
  const int64_t written = Nanoseconds([&] {
    for (uint64_t at = position; at < end && ok; at += size)
      ok = file->Write(at, batch, size).ok();
  });
  times->copied = std::min(times->copied, copied);
  times->written = std::min(times->written, written);
  return ok;
}

} // namespace

size_t Crossing::BelowBytes() {
  return below_bytes.load(std::memory_order_relaxed);
}

void Crossing::Measure(const std::string& directory) {
  if (measured.exchange(true))
    return;
  std::shared_ptr<File> file;
  std::unique_ptr<Window> window;
  if (!File::OpenNameless(directory, &file).ok())
    return;
  if (!Window::Prepare(file.get(), 0, kFileBytes, &window).ok())
    return;
  Times times[kSizes];
  uint64_t position = 0;
  for (int round = 0; round < kRounds; round++) {
    for (int i = 0; i < kSizes; i++, position += kTrialBytes) {
      if (!Try(file.get(), *window, position, kBytesMin << i, &times[i]))
        return;
    }
  }
  int first_written = 0;
  while (first_written < kSizes && times[first_written].copied <= times[first_written].written)
    first_written++;
  below_bytes.store(std::min(kBytesMin << first_written, kBytesMax), std::memory_order_relaxed);
}

} // namespace seglog
