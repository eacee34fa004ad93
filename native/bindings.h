// What one JavaScript environment (the main thread or a worker) holds of the engine, and the
// functions that put the exports of each part on the addon. Each environment has its own registry;
// handles are small integers of that registry and mean nothing in another one.
//
// Teardown: when the environment ends, the registry cancels transfers, waits for pool jobs that use
// a segment and drops every segment. Nothing outlives it but the process-wide helper thread, which
// the last environment joins.
#ifndef SEGLOG_BINDINGS_H_
#define SEGLOG_BINDINGS_H_

#include "file.h"
#include "status.h"

#include <cstdint>
#include <memory>
#include <napi.h>
#include <vector>

namespace seglog {

class Segment;

class Environment {
 public:
  explicit Environment(Napi::Env env);
  ~Environment();
  static Environment* Of(Napi::Env env);

  // Numbers that a call returns beside its status, in a Float64Array that JavaScript holds: see
  // `results` in src/native.ts. Slot kErrnoSlot carries errno of the last failure.
  double* results = nullptr;
  static constexpr size_t kResultSlots = 16;
  static constexpr size_t kErrnoSlot = 15;

  // The file of a segment's records, opened where it is not. Defined in segment_binding.cc.
  Status SegmentFile(int32_t handle, std::shared_ptr<File>* file);

  std::shared_ptr<void> segments;  // owned by segment_binding.cc
  std::shared_ptr<void> transfers; // owned by transfer_binding.cc
  std::shared_ptr<void> locks;     // owned by lock_binding.cc
  Napi::Reference<Napi::Float64Array> results_reference;

  // Records errno of a failed status in the results and returns the code as a JavaScript number.
  Napi::Value Fail(Napi::Env env, Status status);
};

// A Buffer over a block of BufferPool::Take(length), which it gives back; null where the engine
// takes no foreign memory, the block then being given back already. Defined in
// buffer_pool_binding.cc.
napi_value PooledBufferOf(napi_env env, void* block, size_t length);

void ExportBufferPool(Napi::Env env, Napi::Object exports);  // buffer_pool_binding.cc
void ExportCrc(Napi::Env env, Napi::Object exports);         // crc_binding.cc
void ExportPlaces(Napi::Env env, Napi::Object exports);      // places_binding.cc
void ExportSegments(Napi::Env env, Napi::Object exports);    // segment_binding.cc
void ExportSegmentJobs(Napi::Env env, Napi::Object exports); // segment_job_binding.cc
void ExportTransfer(Napi::Env env, Napi::Object exports);    // transfer_binding.cc
void ExportSmallFiles(Napi::Env env, Napi::Object exports);  // small_file_binding.cc
void ExportLocks(Napi::Env env, Napi::Object exports);       // lock_binding.cc

} // namespace seglog

#endif // SEGLOG_BINDINGS_H_
