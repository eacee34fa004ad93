// One file descriptor and what may be asked of it. Owns the descriptor: it is closed with the last
// reference, so a slice that is being sent keeps its file alive through roll, deletion and close.
//
// Threads: every method may be called from any thread; the descriptor never changes after Open.
// Blocking: Read and Write may touch a cold disk; Sync always does. Reserve on a file system with
// extents does not write data.
#ifndef SEGLOG_FILE_H_
#define SEGLOG_FILE_H_

#include "status.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace seglog {

class File {
 public:
  enum class Mode { kCreate, kReadWrite, kReadOnly };
  enum class Act { kOpen, kRead, kWrite, kReserve, kTruncate, kSync };
  // For tests: asked before each act; returns the errno to fail with, or 0. For a write it may
  // lower *length: so much is written before the failure. Otherwise length is null.
  using FaultHook = int (*)(Act act, const std::string& path, size_t* length);
  static void SetFaultHook(FaultHook hook);

  // kCreate refuses a file that exists. O_CLOEXEC always.
  static Status Open(const std::string& path, Mode mode, std::shared_ptr<File>* result);
  // The size of a file that is not open.
  static Status SizeOf(const std::string& path, uint64_t* size);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  int fd() const { return fd_; }
  const std::string& path() const { return path_; }
  // REQUIRES: no other thread has the file yet.
  void Renamed(const std::string& path) { path_ = path; }
  // The file has no name any more: its descriptor is then closed by the helper, as the last close
  // frees the blocks and the page cache, 44 ms for 1 GiB.
  void Unlinked() { unlinked_.store(true, std::memory_order_relaxed); }

  Status Size(uint64_t* size) const;
  // Reads until `length` bytes or the end of the file; interrupted calls are taken up again.
  Status Read(uint64_t position, void* target, size_t length, size_t* read) const;
  // Writes all of it; a short write is taken up again, an error leaves an unknown part written.
  Status Write(uint64_t position, const void* source, size_t length);
  // Gives [0, size) blocks on the disk and extends the file to `size`. kUnsupported where the file
  // system cannot promise that a later store through a mapping finds its block.
  Status Reserve(uint64_t size);
  Status Truncate(uint64_t size);
  // Has the kernel begin to write a range to the disk; no promise, and no error.
  void StartWriting(uint64_t position, uint64_t length);
  Status Sync(); // fdatasync; on Darwin F_FULLFSYNC
  // Advisory exclusive lock of the open file description (fcntl OFD), see design: it meets the
  // record lock of Java's FileChannel. kLocked when held elsewhere, by another process or by
  // another File of this one.
  Status Lock();

 private:
  File(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}
  int fd_;
  std::string path_;
  std::atomic<bool> unlinked_{false};
};

// Syncs a directory so that names made, renamed or removed in it survive a power cut.
Status SyncDirectory(const std::string& path);

} // namespace seglog

#endif // SEGLOG_FILE_H_
