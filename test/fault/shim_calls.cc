// The calls of the C library that the shim takes over, each under both of its names. See shim.h.
#include "shim.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/uio.h>

namespace seglog::fault {

template <typename Function> static void Find(Function* function, const char* name) {
  *function = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, name));
}

const Real& real() {
  static const Real functions = [] {
    Real found;
    Find(&found.open, "open");
    Find(&found.close, "close");
    Find(&found.read, "read");
    Find(&found.pread, "pread");
    Find(&found.write, "write");
    Find(&found.pwrite, "pwrite");
    Find(&found.ftruncate, "ftruncate");
    Find(&found.fallocate, "fallocate");
    Find(&found.fsync, "fsync");
    Find(&found.rename, "rename");
    Find(&found.unlink, "unlink");
    Find(&found.rmdir, "rmdir");
    Find(&found.mkdir, "mkdir");
    Find(&found.mmap, "mmap");
    return found;
  }();
  return functions;
}

} // namespace seglog::fault

using seglog::fault::Kind;
using seglog::fault::real;
using seglog::fault::Shim;

static_assert(sizeof(off_t) == 8, "both names of a call take the same arguments");

static ssize_t WriteVector(int fd, const iovec* parts, int count, off_t position) {
  std::string bytes;
  for (int i = 0; i < count; i++)
    bytes.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
  return Shim::Get().Write(fd, bytes.data(), bytes.size(), position < 0 ? nullptr : &position);
}

extern "C" {

int open(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return Shim::Get().OpenFile(path, flags, mode);
}

int open64(const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return Shim::Get().OpenFile(path, flags, mode);
}

int close(int fd) {
  Shim::Get().Closed(fd);
  return real().close(fd);
}

ssize_t pread(int fd, void* target, size_t length, off_t position) {
  return Shim::Get().OnFile(fd, Kind::kRead,
                            [&] { return real().pread(fd, target, length, position); });
}

ssize_t pread64(int fd, void* target, size_t length, off_t position) {
  return pread(fd, target, length, position);
}

ssize_t write(int fd, const void* bytes, size_t length) {
  return Shim::Get().Write(fd, bytes, length, nullptr);
}

ssize_t pwrite(int fd, const void* bytes, size_t length, off_t position) {
  return Shim::Get().Write(fd, bytes, length, &position);
}

ssize_t pwrite64(int fd, const void* bytes, size_t length, off_t position) {
  return Shim::Get().Write(fd, bytes, length, &position);
}

ssize_t pwritev(int fd, const iovec* parts, int count, off_t position) {
  return WriteVector(fd, parts, count, position);
}

ssize_t pwritev64(int fd, const iovec* parts, int count, off_t position) {
  return WriteVector(fd, parts, count, position);
}

int ftruncate(int fd, off_t size) {
  return Shim::Get().OnFile(fd, Kind::kTruncate, [&] { return real().ftruncate(fd, size); });
}

int ftruncate64(int fd, off_t size) {
  return ftruncate(fd, size);
}

int fallocate(int fd, int mode, off_t from, off_t length) {
  return Shim::Get().OnFile(fd, Kind::kReserve,
                            [&] { return real().fallocate(fd, mode, from, length); });
}

int fallocate64(int fd, int mode, off_t from, off_t length) {
  return fallocate(fd, mode, from, length);
}

int fsync(int fd) {
  return Shim::Get().Sync(fd);
}

int fdatasync(int fd) {
  return Shim::Get().Sync(fd);
}

void* mmap(void* at, size_t length, int protection, int flags, int fd, off_t position) {
  const auto act = [&] { return real().mmap(at, length, protection, flags, fd, position); };
  if (fd < 0)
    return act();
  void* result = MAP_FAILED;
  const auto mapped = [&] {
    result = act();
    return 0;
  };
  (void)Shim::Get().OnFile(fd, Kind::kMap, mapped);
  return result;
}

void* mmap64(void* at, size_t length, int protection, int flags, int fd, off_t position) {
  return mmap(at, length, protection, flags, fd, position);
}

int rename(const char* from, const char* to) {
  std::string before, after;
  if (!Shim::Get().Watched(from, &before) || !Shim::Get().Watched(to, &after))
    return real().rename(from, to);
  return Shim::Get().OnName("R " + before + " " + after, [&] { return real().rename(from, to); });
}

int unlink(const char* path) {
  std::string name;
  if (!Shim::Get().Watched(path, &name))
    return real().unlink(path);
  return Shim::Get().OnName("U " + name, [&] { return real().unlink(path); });
}

int rmdir(const char* path) {
  std::string name;
  if (!Shim::Get().Watched(path, &name))
    return real().rmdir(path);
  return Shim::Get().OnName("U " + name, [&] { return real().rmdir(path); });
}

int mkdir(const char* path, mode_t mode) {
  std::string name;
  if (!Shim::Get().Watched(path, &name))
    return real().mkdir(path, mode);
  return Shim::Get().OnName("M " + name, [&] { return real().mkdir(path, mode); });
}

} // extern "C"
