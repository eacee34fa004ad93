// A disk between a process under test and the real one: preloaded into it, this library sees every
// call that touches files below one folder, makes calls fail, ends the process in the middle of
// one, keeps what a loss of power would leave, and copies the state as a crash would find it.
//
// The folder (SEGLOG_SHIM_ROOT) holds
//   live/      what the process works in
//   acks       what it tells its tester; a write there is an event as those in live/ are
//   journal    one line per change of a name: C name id (made), M name (folder), R from to, U name,
//              D folder (its names are now durable)
//   image/ID   the durable content of a file: what it held when it was last synced
//   snaps/N/   copies of the four at one moment; complete where there is a file `ready`
//
// Pessimistic as POSIX allows: a sync of a file makes its bytes durable and not its name, a sync of
// a folder its names and not their bytes. A sync that is made to fail loses what was dirty then: a
// later one does not bring it back, as Linux has it. Stores through a mapping are not seen; they
// are durable with the next sync of their file.
//
// Thread: one lock around every call that is watched, so that a snapshot is a moment in time.
#ifndef SEGLOG_TEST_FAULT_SHIM_H_
#define SEGLOG_TEST_FAULT_SHIM_H_

#include <cerrno>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

namespace seglog::fault {

enum class Kind { kOpen, kRead, kWrite, kTruncate, kReserve, kSync, kFolder, kName, kMap, kAck };

// The calls of the C library behind those that are taken over.
struct Real {
  int (*open)(const char*, int, ...);
  int (*close)(int);
  ssize_t (*read)(int, void*, size_t);
  ssize_t (*pread)(int, void*, size_t, off_t);
  ssize_t (*write)(int, const void*, size_t);
  ssize_t (*pwrite)(int, const void*, size_t, off_t);
  int (*ftruncate)(int, off_t);
  int (*fallocate)(int, int, off_t, off_t);
  int (*fsync)(int);
  int (*rename)(const char*, const char*);
  int (*unlink)(const char*);
  int (*rmdir)(const char*);
  int (*mkdir)(const char*, mode_t);
  void* (*mmap)(void*, size_t, int, int, int, off_t);
};
const Real& real();

// What SEGLOG_SHIM_PLAN asks for, as `name=value` parted by commas.
struct Plan {
  uint64_t seed = 1;
  double snap = 0;        // chance of a snapshot before a write or an acknowledgement
  double snap_rare = 0;   // and before any other event
  int snaps_max = 0;      // then the process goes on without
  uint64_t exit_at = 0;   // the process ends before, or in the middle of, this event
  Kind fail = Kind::kAck; // which kind fails; kAck is none
  uint64_t fail_at = 0;   // the first event of that kind to fail, from 1
  uint64_t fail_times = 1;
  int error = 0;         // errno; 0 for a write that is short and no error
  std::string only;      // a part of the names that fail; empty for all
  unsigned delay_us = 0; // a sync returns up to so much after it took its picture
};

struct Open {
  enum class What { kFile, kFolder, kAcks };
  What what;
  int id = 0;
  std::string name;
  dev_t device = 0;
  ino_t inode = 0;
};

class Shim {
 public:
  static Shim& Get();

  // The name below live/, "" for live/ itself; false for any other path.
  bool Watched(const char* path, std::string* name) const;

  int OpenFile(const char* path, int flags, mode_t mode);
  void Closed(int fd);
  ssize_t Write(int fd, const void* bytes, size_t length, const off_t* position);
  int Sync(int fd);
  // An act on a descriptor that is watched, or on any other where `act` alone is done.
  template <typename Act> auto OnFile(int fd, Kind kind, Act act) -> decltype(act());
  // An act on names; `line` goes to the journal where it succeeds.
  template <typename Act> int OnName(const std::string& line, Act act);

 private:
  Shim();
  void Parse(const char* plan);
  uint64_t Random();
  bool Chance(double probability);
  // Before an event: snapshots, and the end of the process. Returns the errno to fail with.
  int Step(Kind kind, const std::string& name);
  // As Step, for a write, of which a part may be done before the snapshot or the end.
  int StepWrite(const Open& file, int fd, const void* bytes, size_t length, const off_t* position);
  void Event(Kind kind, const std::function<void()>& in_part);
  bool Fails(Kind kind, const std::string& name);
  void Note(const std::string& line);
  void Snapshot();
  void Restore();
  void SaveImage(int fd, int id);
  void Lose(int fd, int id);
  // What is watched of a descriptor, or null. Not every close comes by here (libc's own do not),
  // so the number may have gone to another file since.
  const Open* Find(int fd);

  std::mutex mutex_;
  std::string root_;
  Plan plan_;
  uint64_t random_ = 1;
  uint64_t events_ = 0;
  uint64_t failing_ = 0; // events of the kind and names that may fail
  int snaps_ = 0;
  int ids_ = 0;
  int journal_ = -1;
  bool short_write_ = false;
  std::map<int, Open> open_;
  std::map<std::pair<dev_t, ino_t>, int> files_;
  std::map<int, std::vector<char>> lost_;
};

template <typename Act> auto Shim::OnFile(int fd, Kind kind, Act act) -> decltype(act()) {
  std::lock_guard<std::mutex> lock(mutex_);
  const Open* file = Find(fd);
  if (file != nullptr && file->what == Open::What::kFile) {
    if (const int error = Step(kind, file->name)) {
      errno = error;
      return static_cast<decltype(act())>(-1);
    }
  }
  return act();
}

template <typename Act> int Shim::OnName(const std::string& line, Act act) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (const int error = Step(Kind::kName, line)) {
    errno = error;
    return -1;
  }
  const int result = act();
  if (result == 0)
    Note(line);
  return result;
}

} // namespace seglog::fault

#endif // SEGLOG_TEST_FAULT_SHIM_H_
