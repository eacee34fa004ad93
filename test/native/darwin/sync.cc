// The sync of Darwin, on a machine that is none: native/file.cc is compiled as for Darwin, and the
// calls of the system that it makes are these. Prints which they were.
#include "../../../native/file.h"
#include "../../../native/helper.h"

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <unistd.h>

namespace {

int full_error = 0; // of F_FULLFSYNC
int plain_error = 0;

} // namespace

extern "C" int __wrap_fcntl(int, int command, ...) {
  std::printf("fcntl %s\n", command == F_FULLFSYNC ? "F_FULLFSYNC" : "other");
  errno = full_error;
  return full_error == 0 ? 0 : -1;
}

extern "C" int __wrap_fsync(int) {
  std::printf("fsync\n");
  errno = plain_error;
  return plain_error == 0 ? 0 : -1;
}

extern "C" int __wrap_fdatasync(int) {
  std::printf("fdatasync\n");
  return 0;
}

// Not asked for anything here.
namespace seglog {
bool Helper::Post(std::function<void()>) {
  return false;
}
} // namespace seglog

int main(int, char** arguments) {
  full_error = std::atoi(arguments[2]);
  plain_error = std::atoi(arguments[3]);
  if (arguments[4] != nullptr) {
    const seglog::Status status = seglog::SyncDirectory(arguments[4]);
    std::printf("status %d errno %d\n", static_cast<int>(status.code), status.error);
    return 0;
  }
  std::shared_ptr<seglog::File> file;
  if (!seglog::File::Open(arguments[1], seglog::File::Mode::kCreate, &file).ok())
    return 1;
  const seglog::Status status = file->Sync();
  std::printf("status %d errno %d\n", static_cast<int>(status.code), status.error);
  return 0;
}
