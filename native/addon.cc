// The addon: makes the environment's registry and puts every export on the module. See bindings.h.
#include "bindings.h"
#include "work.h"

namespace seglog {

Environment::Environment(Napi::Env env) {
  auto array = Napi::Float64Array::New(env, kResultSlots);
  results = array.Data();
  results_reference = Napi::Persistent(array);
}

Environment::~Environment() = default;

Environment* Environment::Of(Napi::Env env) {
  return env.GetInstanceData<Environment>();
}

Napi::Value Environment::Fail(Napi::Env env, Status status) {
  results[kErrnoSlot] = status.error;
  return Napi::Number::New(env, static_cast<int32_t>(status.code));
}

static Napi::Object Init(Napi::Env env, Napi::Object exports) {
  auto* environment = new Environment(env);
  env.SetInstanceData(environment);
  DropJobsAtEnd(env);
  exports.Set("results", environment->results_reference.Value());
  ExportBufferPool(env, exports);
  ExportCrc(env, exports);
  ExportPlaces(env, exports);
  ExportSegments(env, exports);
  ExportSegmentJobs(env, exports);
  ExportTransfer(env, exports);
  ExportSmallFiles(env, exports);
  ExportLocks(env, exports);
  return exports;
}

NODE_API_MODULE(seglog, Init)

} // namespace seglog
