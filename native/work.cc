// Async work of Node-API around two functions. See work.h.
//
// Calls of Node-API fail where the environment is about to end; there is nobody left to tell then,
// and what the job holds is let go of all the same.
#include "work.h"

#include <memory>

namespace seglog {

namespace {

struct Job {
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  std::function<Status()> execute;
  std::function<napi_value(napi_env)> result;
  Status status;
};

void SetNumber(napi_env env, napi_value object, const char* name, int32_t number) {
  napi_value value;
  if (napi_create_int32(env, number, &value) != napi_ok)
    return;
  napi_set_named_property(env, object, name, value);
}

void Reject(napi_env env, napi_deferred deferred, Status status) {
  napi_value message, error;
  const bool made =
      napi_create_string_utf8(env, "a native job failed", NAPI_AUTO_LENGTH, &message) == napi_ok &&
      napi_create_error(env, nullptr, message, &error) == napi_ok;
  if (!made)
    return;
  SetNumber(env, error, "status", static_cast<int32_t>(status.code));
  SetNumber(env, error, "errno", status.error);
  napi_reject_deferred(env, deferred, error);
}

void Execute(napi_env, void* data) {
  auto* job = static_cast<Job*>(data);
  job->status = job->execute();
}

void Complete(napi_env env, napi_status status, void* data) {
  const std::unique_ptr<Job> job(static_cast<Job*>(data));
  napi_delete_async_work(env, job->work);
  if (status != napi_ok)
    job->status = Status::Of(Code::kClosed); // cancelled before it ran
  if (!job->status.ok()) {
    Reject(env, job->deferred, job->status);
    return;
  }
  napi_value value = nullptr;
  if (job->result) {
    value = job->result(env);
  } else {
    napi_get_undefined(env, &value);
  }
  if (value != nullptr)
    napi_resolve_deferred(env, job->deferred, value);
}

} // namespace

napi_value RunInPool(napi_env env, const char* name, std::function<Status()> execute,
                     std::function<napi_value(napi_env)> result) {
  std::unique_ptr<Job> job(new Job);
  job->execute = std::move(execute);
  job->result = std::move(result);
  napi_value promise, resource;
  const bool queued = napi_create_promise(env, &job->deferred, &promise) == napi_ok &&
                      napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &resource) == napi_ok &&
                      napi_create_async_work(env, nullptr, resource, Execute, Complete, job.get(),
                                             &job->work) == napi_ok &&
                      napi_queue_async_work(env, job->work) == napi_ok;
  if (!queued)
    return nullptr;
  job.release(); // Complete takes it
  return promise;
}

napi_value RejectedPromise(napi_env env, Status status) {
  napi_deferred deferred;
  napi_value promise;
  if (napi_create_promise(env, &deferred, &promise) != napi_ok)
    return nullptr;
  Reject(env, deferred, status);
  return promise;
}

} // namespace seglog
