// Blocks of the pool as Buffers, and the export `pooledBuffer` of src/native.ts.
#include "arguments.h"
#include "buffer_pool.h"

#include <cstdint>

namespace seglog {

napi_value PooledBufferOf(napi_env env, void* block, size_t length) {
  const auto give = [](napi_env, void* data, void* hint) {
    BufferPool::Give(data, reinterpret_cast<size_t>(hint));
  };
  napi_value buffer = nullptr;
  void* hint = reinterpret_cast<void*>(length);
  if (napi_create_external_buffer(env, length, block, give, hint, &buffer) == napi_ok)
    return buffer;
  BufferPool::Give(block, length);
  return nullptr;
}

static napi_value PooledBuffer(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  size_t length;
  if (!arguments.Size(0, BufferPool::kLargeBytes, &length) || length == 0)
    return arguments.Return(Status::Of(Code::kBadArgument));
  void* block = BufferPool::Take(length);
  if (block == nullptr)
    return arguments.Return(Status::Of(Code::kTooLarge));
  napi_value buffer = PooledBufferOf(env, block, length);
  return buffer != nullptr ? buffer : arguments.Return(Status::Of(Code::kUnsupported));
}

void ExportBufferPool(Napi::Env env, Napi::Object exports) {
  Export(env, exports, "pooledBuffer", PooledBuffer);
}

} // namespace seglog
