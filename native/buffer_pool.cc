// Lists of blocks behind a mutex.
#include "buffer_pool.h"

#include <cstdint>
#include <mutex>
#include <sys/mman.h>
#include <vector>

namespace seglog {

namespace {

// A huge page of x86-64, and of arm64 with pages of 4 KiB.
constexpr size_t kSlabBytes = size_t{2} << 20;
static_assert(BufferPool::kLargeBytes == kSlabBytes && kSlabBytes % BufferPool::kSmallBytes == 0);

struct Blocks {
  std::mutex mutex;
  std::vector<void*> free;
  size_t bytes = 0; // of all blocks, lent or free
};

// Never destroyed: a Buffer may be let go of while the process ends.
Blocks& OfSize(size_t length) {
  static auto* sizes = new Blocks[2];
  return sizes[length > BufferPool::kSmallBytes ? 1 : 0];
}

// A slab at a multiple of its size, or nullptr.
uint8_t* MapSlab() {
  constexpr size_t kMapped = 2 * kSlabBytes;
  void* mapped =
      ::mmap(nullptr, kMapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    return nullptr;
  auto* start = static_cast<uint8_t*>(mapped);
  const size_t before = -reinterpret_cast<uintptr_t>(start) % kSlabBytes;
  uint8_t* slab = start + before;
  if (before > 0)
    ::munmap(start, before);
  ::munmap(slab + kSlabBytes, kMapped - before - kSlabBytes);
#ifdef MADV_HUGEPAGE
  ::madvise(slab, kSlabBytes, MADV_HUGEPAGE);
#endif
  return slab;
}

} // namespace

void* BufferPool::Take(size_t length) {
  Blocks& blocks = OfSize(length);
  std::lock_guard<std::mutex> lock(blocks.mutex);
  if (blocks.free.empty()) {
    uint8_t* slab = blocks.bytes + kSlabBytes <= kBytesMax ? MapSlab() : nullptr;
    if (slab == nullptr)
      return nullptr;
    blocks.bytes += kSlabBytes;
    const size_t step = length > kSmallBytes ? kLargeBytes : kSmallBytes;
    for (size_t at = 0; at < kSlabBytes; at += step)
      blocks.free.push_back(slab + at);
  }
  // The one that was used last: its bytes are the likeliest to be in a cache.
  void* block = blocks.free.back();
  blocks.free.pop_back();
  return block;
}

void BufferPool::Give(void* block, size_t length) {
  Blocks& blocks = OfSize(length);
  std::lock_guard<std::mutex> lock(blocks.mutex);
  blocks.free.push_back(block);
}

} // namespace seglog
