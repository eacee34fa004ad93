// Copies the state of the disk under test, as it is at one moment, for later looks. See shim.h.
#include "shim.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

namespace seglog::fault {

namespace {

namespace fs = std::filesystem;

constexpr size_t kChunk = 4096;

// Leaves holes where the source has zeros: reserved space is large and mostly empty.
void CopyFile(const std::string& from, const std::string& to) {
  const int source = real().open(from.c_str(), O_RDONLY | O_CLOEXEC, 0);
  const int target = real().open(to.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  char chunk[kChunk];
  off_t at = 0;
  for (ssize_t count; (count = real().pread(source, chunk, kChunk, at)) > 0; at += count) {
    if (std::any_of(chunk, chunk + count, [](char byte) { return byte != 0; }))
      (void)!real().pwrite(target, chunk, static_cast<size_t>(count), at);
  }
  (void)!real().ftruncate(target, at);
  real().close(source);
  real().close(target);
}

void CopyTree(const std::string& from, const std::string& to) {
  real().mkdir(to.c_str(), 0755);
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    const std::string target = to + "/" + entry.path().filename().string();
    if (entry.is_directory(error))
      CopyTree(entry.path().string(), target);
    else
      CopyFile(entry.path().string(), target);
  }
}

} // namespace

void Shim::Snapshot() {
  const std::string target = root_ + "/snaps/" + std::to_string(snaps_++);
  real().mkdir(target.c_str(), 0755);
  // A file that is not there yet is an empty one in the copy.
  for (const char* name : {"/acks", "/journal"})
    CopyFile(root_ + name, target + name);
  CopyTree(root_ + "/live", target + "/live");
  CopyTree(root_ + "/image", target + "/image");
  CopyFile(root_ + "/journal", target + "/ready");
}

} // namespace seglog::fault
