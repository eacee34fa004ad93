// The machine's own limit for an append: CRC-32C of a batch and its copy into a reserved file, and
// nothing else. No structure is checked, no offset stamped, no index kept, no JavaScript called.
// `limit BATCH_BYTES FILL_BYTES SECONDS DIRECTORY` prints batches per second of two techniques as
// JSON: "write" is pwrite into reserved blocks, "map" a copy into a mapping on huge pages that a
// second thread populates ahead. Each pass fills a new file; the first pass of a technique is not
// counted.
#include "../../native/crc32.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace {

using Clock = std::chrono::steady_clock;

constexpr size_t kPopulateStep = size_t{2} << 20; // a huge page
constexpr size_t kPageBytes = 4096;
constexpr int kPassesMax = 20;

// Takes every sum, so that no compiler drops it.
volatile uint32_t sink;

[[noreturn]] void Fail(const char* what) {
  std::perror(what);
  std::exit(1);
}

struct Work {
  std::string path;
  std::vector<uint8_t> batch;
  size_t batches;
  size_t bytes() const { return batch.size() * batches; }
};

double Since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Seconds for one file of pwrites.
double PassByWrite(const Work& work, int fd) {
  const auto start = Clock::now();
  for (size_t i = 0; i < work.batches; i++) {
    sink = seglog::Crc32c(work.batch.data(), work.batch.size(), 0);
    const auto position = static_cast<off_t>(i * work.batch.size());
    const ssize_t count = ::pwrite(fd, work.batch.data(), work.batch.size(), position);
    if (count != static_cast<ssize_t>(work.batch.size()))
      Fail("pwrite");
  }
  return Since(start);
}

// The load of each page makes a hypervisor that keeps its own page tables fill them in here.
void PopulateAhead(uint8_t* data, size_t length, std::atomic<size_t>* ready) {
  for (size_t done = 0; done < length; done += kPopulateStep) {
    const size_t step = std::min(kPopulateStep, length - done);
    (void)::madvise(data + done, step, MADV_POPULATE_WRITE);
    for (size_t page = done; page < done + step; page += kPageBytes)
      (void)*static_cast<const volatile uint8_t*>(data + page);
    ready->store(done + step, std::memory_order_release);
  }
}

// Seconds for one file of copies into its mapping; waiting for pages is counted.
double PassByMap(const Work& work, int fd) {
  // Huge pages lie at multiples of their size.
  const size_t held = work.bytes() + kPopulateStep;
  void* range = ::mmap(nullptr, held, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED)
    Fail("mmap");
  auto* data = static_cast<uint8_t*>(range);
  data += -reinterpret_cast<uintptr_t>(data) % kPopulateStep;
  if (::mmap(data, work.bytes(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) ==
      MAP_FAILED)
    Fail("mmap");
#ifdef MADV_HUGEPAGE
  (void)::madvise(data, work.bytes(), MADV_HUGEPAGE);
#endif
  std::atomic<size_t> ready{0};
  const auto start = Clock::now();
  std::thread helper(PopulateAhead, data, work.bytes(), &ready);
  for (size_t position = 0; position < work.bytes(); position += work.batch.size()) {
    sink = seglog::Crc32c(work.batch.data(), work.batch.size(), 0);
    while (ready.load(std::memory_order_acquire) < position + work.batch.size())
      std::this_thread::yield();
    std::memcpy(data + position, work.batch.data(), work.batch.size());
  }
  const double seconds = Since(start);
  helper.join();
  ::munmap(range, held);
  return seconds;
}

double BatchesPerSecond(const Work& work, double (*pass)(const Work&, int), double limit) {
  double seconds = 0;
  int passes = -1;
  while (passes < 1 || (seconds < limit && passes < kPassesMax)) {
    const int fd = ::open(work.path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (fd < 0)
      Fail(work.path.c_str());
    if (::fallocate(fd, 0, 0, static_cast<off_t>(work.bytes())) != 0)
      Fail("fallocate");
    const double took = pass(work, fd);
    ::close(fd);
    ::unlink(work.path.c_str());
    if (passes++ >= 0)
      seconds += took;
  }
  return static_cast<double>(work.batches) * passes / seconds;
}

} // namespace

int main(int count, char** arguments) {
  if (count != 5)
    return 2;
  Work work;
  work.path = std::string(arguments[4]) + "/limit";
  work.batch.resize(std::strtoull(arguments[1], nullptr, 10), 's');
  if (work.batch.empty())
    return 2;
  work.batches = std::max<size_t>(1, std::strtoull(arguments[2], nullptr, 10) / work.batch.size());
  const double seconds = std::strtod(arguments[3], nullptr);
  const double write = BatchesPerSecond(work, PassByWrite, seconds);
  const double map = BatchesPerSecond(work, PassByMap, seconds);
  std::printf("{\"write\":%.1f,\"map\":%.1f}\n", write, map);
  return 0;
}
