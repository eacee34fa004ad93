// System calls of one descriptor: see file.h. Every call that can be interrupted is taken up again;
// transfers are cut to what one call may move, so that a length beyond 2 GiB is not a short one.
#include "file.h"

#include "helper.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/vfs.h>
#endif

namespace seglog {

namespace {

// Linux moves at most 0x7ffff000 bytes in one call.
constexpr size_t kTransferMax = size_t{1} << 30;

std::atomic<File::FaultHook> fault_hook{nullptr};

Status FromErrno() {
  return Status::FromErrno(errno);
}

// File systems where fallocate gives blocks that a later store through a mapping finds. Copy on
// write (btrfs, zfs), the network (nfs) and layers over them (overlay, fuse) promise nothing.
bool PromisesBlocks(int fd) {
#ifdef __linux__
  constexpr uint64_t kExt4 = 0xef53, kXfs = 0x58465342, kTmpfs = 0x01021994;
  struct statfs info;
  if (::fstatfs(fd, &info) != 0)
    return false;
  const auto type = static_cast<uint64_t>(static_cast<uint32_t>(info.f_type));
  return type == kExt4 || type == kXfs || type == kTmpfs;
#else
  return false;
#endif
}

} // namespace

void File::SetFaultHook(FaultHook hook) {
  fault_hook.store(hook);
}

// The errno to fail with, or 0. A hook may shorten what a write moves before it fails.
static int Fault(File::Act act, const std::string& path, size_t* length) {
  const auto hook = fault_hook.load(std::memory_order_relaxed);
  return hook == nullptr ? 0 : hook(act, path, length);
}

Status File::Open(const std::string& path, Mode mode, std::shared_ptr<File>* result) {
  // A pipe would keep the caller waiting for its other end.
  int flags = O_CLOEXEC | O_NONBLOCK;
  if (mode == Mode::kCreate)
    flags |= O_RDWR | O_CREAT | O_EXCL;
  if (mode == Mode::kReadWrite)
    flags |= O_RDWR;
  if (mode == Mode::kReadOnly)
    flags |= O_RDONLY;
  if (const int fault = Fault(Act::kOpen, path, nullptr))
    return Status::FromErrno(fault);
  int fd;
  do {
    fd = ::open(path.c_str(), flags, 0644);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0)
    return FromErrno();
  struct stat found;
  if (::fstat(fd, &found) != 0 || !S_ISREG(found.st_mode)) {
    ::close(fd);
    return Status::FromErrno(ENOTSUP);
  }
  result->reset(new File(fd, path));
  return Status::Ok();
}

File::~File() {
  if (!unlinked_.load(std::memory_order_relaxed)) {
    ::close(fd_);
    return;
  }
  // Closed with the task, whether it runs, is refused or is dropped.
  const auto close_fd = [](int* fd) {
    ::close(*fd);
    delete fd;
  };
  Helper::Post([held = std::shared_ptr<int>(new int(fd_), close_fd)] {});
}

Status File::SizeOf(const std::string& path, uint64_t* size) {
  if (const int fault = Fault(Act::kOpen, path, nullptr))
    return Status::FromErrno(fault);
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    return FromErrno();
  *size = static_cast<uint64_t>(info.st_size);
  return Status::Ok();
}

Status File::Size(uint64_t* size) const {
  struct stat info;
  if (::fstat(fd_, &info) != 0)
    return FromErrno();
  *size = static_cast<uint64_t>(info.st_size);
  return Status::Ok();
}

Status File::Read(uint64_t position, void* target, size_t length, size_t* read) const {
  *read = 0;
  if (const int fault = Fault(Act::kRead, path_, nullptr))
    return Status::FromErrno(fault);
  while (*read < length) {
    const ssize_t count =
        ::pread(fd_, static_cast<char*>(target) + *read, std::min(length - *read, kTransferMax),
                static_cast<off_t>(position + *read));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return FromErrno();
    if (count == 0)
      break;
    *read += static_cast<size_t>(count);
  }
  return Status::Ok();
}

Status File::Write(uint64_t position, const void* source, size_t length) {
  size_t allowed = length;
  const int fault = Fault(Act::kWrite, path_, &allowed);
  size_t written = 0;
  while (written < allowed) {
    const ssize_t count =
        ::pwrite(fd_, static_cast<const char*>(source) + written,
                 std::min(allowed - written, kTransferMax), static_cast<off_t>(position + written));
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return FromErrno();
    // A regular file never takes 0 of a positive count; an endless loop would be worse than EIO.
    if (count == 0)
      return Status::FromErrno(EIO);
    written += static_cast<size_t>(count);
  }
  return fault != 0 ? Status::FromErrno(fault) : Status::Ok();
}

Status File::Reserve(uint64_t size) {
#ifdef __linux__
  if (!PromisesBlocks(fd_))
    return Status::Of(Code::kUnsupported);
  if (const int fault = Fault(Act::kReserve, path_, nullptr))
    return Status::FromErrno(fault);
  int result;
  do {
    result = ::fallocate(fd_, 0, 0, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status::Ok() : FromErrno();
#else
  return Status::Of(Code::kUnsupported);
#endif
}

Status File::Truncate(uint64_t size) {
  if (const int fault = Fault(Act::kTruncate, path_, nullptr))
    return Status::FromErrno(fault);
  int result;
  do {
    result = ::ftruncate(fd_, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status::Ok() : FromErrno();
}

void File::StartWriting(uint64_t position, uint64_t length) {
#ifdef __linux__
  if (length > 0)
    ::sync_file_range(fd_, static_cast<off_t>(position), static_cast<off_t>(length),
                      SYNC_FILE_RANGE_WRITE);
#else
  (void)position;
  (void)length;
#endif
}

Status File::Sync() {
  if (const int fault = Fault(Act::kSync, path_, nullptr))
    return Status::FromErrno(fault);
#ifdef __APPLE__
  // fsync of Darwin stops at the cache of the drive; not every file system knows the full one.
  if (::fcntl(fd_, F_FULLFSYNC) == 0)
    return Status::Ok();
  // Any other error is a sync that failed, which one of less would hide.
  if (errno != ENOTSUP && errno != EINVAL && errno != ENOTTY)
    return FromErrno();
  const int result = ::fsync(fd_);
#else
  int result;
  do {
    result = ::fdatasync(fd_);
  } while (result != 0 && errno == EINTR);
#endif
  return result == 0 ? Status::Ok() : FromErrno();
}

Status File::Lock() {
#ifdef F_OFD_SETLK
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET; // with start and length 0: all of the file, as FileChannel.lock()
  if (::fcntl(fd_, F_OFD_SETLK, &lock) == 0)
    return Status::Ok();
  if (errno == EAGAIN || errno == EACCES)
    return {Code::kLocked, errno};
  return FromErrno();
#else
  return Status::Of(Code::kUnsupported);
#endif
}

Status SyncDirectory(const std::string& path) {
  int fd;
  do {
    fd = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd < 0)
    return FromErrno();
  const int result = ::fsync(fd);
  const int error = errno;
  ::close(fd);
  // EINVAL: a file system that keeps no directory to sync.
  if (result == 0 || error == EINVAL)
    return Status::Ok();
  return Status::FromErrno(error);
}

} // namespace seglog
