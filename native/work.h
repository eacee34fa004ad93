// A job in libuv's pool that settles a promise. The job holds what it needs by references of its
// own, so that handles may be closed and environments may end while it runs: Node.js waits for
// pool jobs before it tears an environment down.
//
// `execute` runs in the pool and must not touch JavaScript. `result` runs on the JavaScript thread
// after success and makes the value of the promise; without it that is undefined. A failure rejects
// with an Error that carries `status` and `errno`; src/native.ts makes a SeglogError of it.
#ifndef SEGLOG_WORK_H_
#define SEGLOG_WORK_H_

#include "status.h"

#include <functional>
#include <node_api.h>

namespace seglog {

// The promise, or null with a pending exception. `name` shows up in diagnostics.
napi_value RunInPool(napi_env env, const char* name, std::function<Status()> execute,
                     std::function<napi_value(napi_env)> result = nullptr);

// Lets go of what jobs hold when the environment ends; once for each environment.
void DropJobsAtEnd(napi_env env);

// A promise that is rejected already.
napi_value RejectedPromise(napi_env env, Status status);

} // namespace seglog

#endif // SEGLOG_WORK_H_
