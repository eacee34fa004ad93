// Async work of Node-API around two functions. See work.h.
//
// Calls of Node-API fail where the environment is about to end; there is nobody left to tell then,
// and what the job holds is let go of all the same: by the pool as soon as it has run, and for what
// never ran or was never completed by the end of its environment. So Node-API knows a job by a
// number alone, and a list of the process owns it.
#include "work.h"

#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace seglog {

namespace {

struct Job {
  napi_env env = nullptr;
  napi_async_work work = nullptr;
  napi_deferred deferred = nullptr;
  std::function<Status()> execute;
  std::function<napi_value(napi_env)> result;
  Status status;
};

struct JobList {
  std::mutex mutex;
  std::unordered_map<uintptr_t, std::shared_ptr<Job>> jobs;
  uintptr_t last_id = 0;

  // Never destroyed: threads of another environment may outlast the static objects of the process.
  static JobList& Shared() {
    static JobList* list = new JobList;
    return *list;
  }

  uintptr_t Add(std::shared_ptr<Job> job) {
    std::lock_guard<std::mutex> lock(mutex);
    jobs.emplace(++last_id, std::move(job));
    return last_id;
  }
  std::shared_ptr<Job> Find(uintptr_t id, bool remove) {
    std::lock_guard<std::mutex> lock(mutex);
    const auto found = jobs.find(id);
    if (found == jobs.end())
      return nullptr;
    std::shared_ptr<Job> job = found->second;
    if (remove)
      jobs.erase(found);
    return job;
  }
};

// What is left of an environment that ends.
void DropJobs(void* env) {
  JobList& list = JobList::Shared();
  std::vector<std::shared_ptr<Job>> dropped; // let go of without the lock
  std::lock_guard<std::mutex> lock(list.mutex);
  for (auto at = list.jobs.begin(); at != list.jobs.end();) {
    if (at->second->env != env) {
      ++at;
      continue;
    }
    dropped.push_back(std::move(at->second));
    at = list.jobs.erase(at);
  }
}

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

void Execute(napi_env, void* id) {
  const auto job = JobList::Shared().Find(reinterpret_cast<uintptr_t>(id), false);
  if (job == nullptr)
    return;
  job->status = job->execute();
  job->execute = nullptr;
}

void Complete(napi_env env, napi_status status, void* id) {
  const auto job = JobList::Shared().Find(reinterpret_cast<uintptr_t>(id), true);
  if (job == nullptr)
    return;
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
  const auto job = std::make_shared<Job>();
  job->env = env;
  job->execute = std::move(execute);
  job->result = std::move(result);
  const uintptr_t id = JobList::Shared().Add(job);
  napi_value promise, resource;
  const bool queued = napi_create_promise(env, &job->deferred, &promise) == napi_ok &&
                      napi_create_string_utf8(env, name, NAPI_AUTO_LENGTH, &resource) == napi_ok &&
                      napi_create_async_work(env, nullptr, resource, Execute, Complete,
                                             reinterpret_cast<void*>(id), &job->work) == napi_ok &&
                      napi_queue_async_work(env, job->work) == napi_ok;
  if (queued)
    return promise;
  JobList::Shared().Find(id, true);
  if (job->work != nullptr)
    napi_delete_async_work(env, job->work);
  return nullptr;
}

void DropJobsAtEnd(napi_env env) {
  napi_add_env_cleanup_hook(env, DropJobs, env);
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
