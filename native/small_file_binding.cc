// fileReplace and pathSync of src/native-files.ts: small files and directories that are brought to
// the disk in one job of the pool each. A job owns its descriptor from open to close, so that an
// environment which ends meanwhile leaves none behind.
//
// Thread: the pool.
#include "arguments.h"
#include "bindings.h"
#include "work.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

namespace seglog {

namespace {

class Descriptor {
 public:
  Descriptor(const std::string& path, int flags) {
    do {
      fd_ = ::open(path.c_str(), flags | O_CLOEXEC | O_NONBLOCK, 0666);
    } while (fd_ < 0 && errno == EINTR);
  }
  ~Descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int fd() const { return fd_; }

 private:
  int fd_;
};

Status WriteAndSync(const std::string& path, const std::vector<uint8_t>& bytes) {
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (file.fd() < 0)
    return Status::FromErrno(errno);
  for (size_t at = 0; at < bytes.size();) {
    const ssize_t count = ::write(file.fd(), bytes.data() + at, bytes.size() - at);
    if (count < 0 && errno != EINTR)
      return Status::FromErrno(errno);
    if (count > 0)
      at += static_cast<size_t>(count);
  }
  return ::fsync(file.fd()) == 0 ? Status::Ok() : Status::FromErrno(errno);
}

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  if (slash == std::string::npos)
    return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

Status Replace(const std::string& path, const std::vector<uint8_t>& bytes) {
  const std::string beside = path + ".tmp";
  Status status = WriteAndSync(beside, bytes);
  if (status.ok() && ::rename(beside.c_str(), path.c_str()) != 0)
    status = Status::FromErrno(errno);
  if (status.ok())
    return SyncDirectory(DirectoryOf(path));
  ::unlink(beside.c_str());
  return status;
}

napi_value FileReplace(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  std::string path;
  uint8_t* bytes;
  size_t length;
  if (!arguments.Path(0, &path) || !arguments.Bytes(1, &bytes, &length))
    return RejectedPromise(env, Status::Of(Code::kBadArgument));
  std::vector<uint8_t> content(bytes, bytes + length);
  return RunInPool(env, "seglog.fileReplace",
                   [path, content = std::move(content)] { return Replace(path, content); });
}

// What cannot be opened has not failed to reach the disk: errno is then the result.
napi_value PathSync(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::string path;
  if (!arguments.Path(0, &path))
    return RejectedPromise(env, Status::Of(Code::kBadArgument));
  const auto unopened = std::make_shared<int32_t>(0);
  const auto execute = [path, unopened] {
    const Descriptor file(path, O_RDONLY);
    if (file.fd() < 0) {
      *unopened = errno;
      return Status::Ok();
    }
    // EINVAL: a file system that keeps no directory to sync.
    if (::fsync(file.fd()) == 0 || errno == EINVAL)
      return Status::Ok();
    return Status::FromErrno(errno);
  };
  return RunInPool(env, "seglog.pathSync", execute, [unopened](napi_env result_env) {
    napi_value value = nullptr;
    napi_create_int32(result_env, *unopened, &value);
    return value;
  });
}

} // namespace

void ExportSmallFiles(Napi::Env env, Napi::Object exports) {
  Export(env, exports, "fileReplace", FileReplace);
  Export(env, exports, "pathSync", PathSync);
}

} // namespace seglog
