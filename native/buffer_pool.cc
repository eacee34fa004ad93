// Lists of blocks behind a mutex, and the export `pooledBuffer` of src/native.ts.
#include "buffer_pool.h"

#include "arguments.h"

#include <cstdlib>
#include <mutex>
#include <vector>

namespace seglog {

namespace {

constexpr size_t kSizes = 7; // 64 KiB to 4 MiB
static_assert(BufferPool::kBlockBytesMin << (kSizes - 1) == BufferPool::kBlockBytesMax);

struct Kept {
  std::mutex mutex;
  std::vector<void*> blocks[kSizes];
  size_t bytes = 0;
};

// Never destroyed: a Buffer may be let go of while the process ends.
Kept& Shared() {
  static Kept* kept = new Kept;
  return *kept;
}

size_t SizeIndex(size_t length) {
  size_t index = 0;
  while (BufferPool::kBlockBytesMin << index < length)
    index++;
  return index;
}

} // namespace

void* BufferPool::Take(size_t length) {
  Kept& kept = Shared();
  const size_t index = SizeIndex(length);
  const size_t bytes = kBlockBytesMin << index;
  {
    std::lock_guard<std::mutex> lock(kept.mutex);
    std::vector<void*>& blocks = kept.blocks[index];
    if (!blocks.empty()) {
      // The one that was used last: its pages are the warmest.
      void* block = blocks.back();
      blocks.pop_back();
      kept.bytes -= bytes;
      return block;
    }
  }
  return std::malloc(bytes);
}

void BufferPool::Give(void* block, size_t length) {
  Kept& kept = Shared();
  const size_t index = SizeIndex(length);
  const size_t bytes = kBlockBytesMin << index;
  {
    std::lock_guard<std::mutex> lock(kept.mutex);
    if (kept.bytes + bytes <= kKeptBytesMax) {
      kept.blocks[index].push_back(block);
      kept.bytes += bytes;
      return;
    }
  }
  std::free(block);
}

static napi_value PooledBuffer(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  size_t length;
  if (!arguments.Size(0, BufferPool::kBlockBytesMax, &length) || length == 0)
    return arguments.Return(Status::Of(Code::kBadArgument));
  void* block = BufferPool::Take(length);
  if (block == nullptr)
    return arguments.Return(Status::Of(Code::kTooLarge));
  const auto give = [](napi_env, void* data, void* hint) {
    BufferPool::Give(data, reinterpret_cast<size_t>(hint));
  };
  napi_value buffer = nullptr;
  void* hint = reinterpret_cast<void*>(length);
  if (napi_create_external_buffer(env, length, block, give, hint, &buffer) == napi_ok)
    return buffer;
  BufferPool::Give(block, length);
  return arguments.Return(Status::Of(Code::kUnsupported));
}

void ExportBufferPool(Napi::Env env, Napi::Object exports) {
  Export(env, exports, "pooledBuffer", PooledBuffer);
}

} // namespace seglog
