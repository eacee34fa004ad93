// lockAcquire and lockRelease of src/native.ts. A lock is a file that is held open: the kernel lets
// go of it with the last reference, so a worker that ends or a process that is killed leaves none
// behind. The file itself stays, as removing it would let two holders lock two files of one name.
//
// Thread: the JavaScript thread of the environment. Blocking: opens a file, never waits for a lock.
#include "bindings.h"

#include <string>
#include <unordered_map>

namespace seglog {

namespace {

struct Locks {
  std::unordered_map<int32_t, std::shared_ptr<File>> held;
  int32_t last_handle = 0;
};

Locks* LocksOf(Environment* environment) {
  return static_cast<Locks*>(environment->locks.get());
}

// Another process may make or remove the file between two looks at it, hence the second round.
Status OpenOrCreate(const std::string& path, std::shared_ptr<File>* file) {
  Status status;
  for (int round = 0; round < 2; round++) {
    status = File::Open(path, File::Mode::kReadWrite, file);
    if (status.code != Code::kNotFound)
      return status;
    status = File::Open(path, File::Mode::kCreate, file);
    if (status.code != Code::kExists)
      return status;
  }
  return status;
}

Napi::Value LockAcquire(const Napi::CallbackInfo& info) {
  Environment* environment = Environment::Of(info.Env());
  if (!info[0].IsString())
    return environment->Fail(info.Env(), Status::Of(Code::kBadArgument));
  const std::string path = info[0].As<Napi::String>().Utf8Value();
  // A path with a zero in it would open the file of a shorter name.
  if (path.empty() || path.find('\0') != std::string::npos) {
    return environment->Fail(info.Env(), Status::Of(Code::kBadArgument));
  }
  std::shared_ptr<File> file;
  Status status = OpenOrCreate(path, &file);
  if (status.ok())
    status = file->Lock();
  if (!status.ok())
    return environment->Fail(info.Env(), status);
  Locks* locks = LocksOf(environment);
  locks->held.emplace(++locks->last_handle, std::move(file));
  return Napi::Number::New(info.Env(), locks->last_handle);
}

Napi::Value LockRelease(const Napi::CallbackInfo& info) {
  Environment* environment = Environment::Of(info.Env());
  const bool known = info[0].IsNumber() &&
                     LocksOf(environment)->held.erase(info[0].As<Napi::Number>().Int32Value()) == 1;
  if (!known)
    return environment->Fail(info.Env(), Status::Of(Code::kClosed));
  return Napi::Number::New(info.Env(), 0);
}

} // namespace

void ExportLocks(Napi::Env env, Napi::Object exports) {
  Environment::Of(env)->locks = std::make_shared<Locks>();
  exports.Set("lockAcquire", Napi::Function::New<LockAcquire>(env, "lockAcquire"));
  exports.Set("lockRelease", Napi::Function::New<LockRelease>(env, "lockRelease"));
}

} // namespace seglog
