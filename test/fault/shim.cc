// The events of the disk under test, and what becomes of each. See shim.h; the calls that lead here
// are in shim_calls.cc.
#include "shim.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

namespace seglog::fault {

namespace {

constexpr int kExitCode = 99;
constexpr size_t kSector = 512;

// Whether or not the descriptor may read.
std::vector<char> Content(int own_fd) {
  struct stat info;
  const std::string link = "/proc/self/fd/" + std::to_string(own_fd);
  const int fd = real().open(link.c_str(), O_RDONLY | O_CLOEXEC, 0);
  if (fd < 0 || ::fstat(fd, &info) != 0)
    return {};
  std::vector<char> bytes(static_cast<size_t>(info.st_size));
  size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count =
        real().pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count <= 0)
      break;
    done += static_cast<size_t>(count);
  }
  real().close(fd);
  bytes.resize(done);
  return bytes;
}

} // namespace

Shim& Shim::Get() {
  static Shim* shim = new Shim; // for as long as any thread may still write
  return *shim;
}

Shim::Shim() {
  const char* root = std::getenv("SEGLOG_SHIM_ROOT");
  if (root == nullptr)
    return;
  root_ = root;
  if (const char* plan = std::getenv("SEGLOG_SHIM_PLAN"))
    Parse(plan);
  random_ = plan_.seed * 2654435761 + 1;
  journal_ =
      real().open((root_ + "/journal").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  Restore();
}

// What an earlier process on this disk left: which file is which.
void Shim::Restore() {
  std::ifstream journal(root_ + "/journal");
  std::map<std::string, int> names;
  for (std::string line; std::getline(journal, line);) {
    std::istringstream words(line);
    std::string verb, name, target;
    words >> verb >> name >> target;
    if (verb == "C") {
      names[name] = std::atoi(target.c_str());
      ids_ = std::max(ids_, names[name]);
    } else if (verb == "R") {
      names[target] = names[name];
    }
    if (verb == "R" || verb == "U")
      names.erase(name);
  }
  struct stat info;
  for (const auto& [name, id] : names) {
    if (::stat((root_ + "/live/" + name).c_str(), &info) == 0)
      files_[{info.st_dev, info.st_ino}] = id;
  }
}

void Shim::Parse(const char* plan) {
  const std::string text = std::string(plan) + ",";
  const auto value = [&](const char* name) {
    const size_t at = ("," + text).find(std::string(",") + name + "=");
    return at == std::string::npos ? nullptr : text.c_str() + at + std::strlen(name) + 1;
  };
  const auto number = [&](const char* name) {
    const char* digits = value(name);
    return digits == nullptr ? 0 : std::strtod(digits, nullptr);
  };
  plan_.seed = static_cast<uint64_t>(number("seed"));
  plan_.snap = number("snap");
  plan_.snap_rare = number("rare");
  plan_.snaps_max = static_cast<int>(number("snaps"));
  plan_.exit_at = static_cast<uint64_t>(number("exit"));
  plan_.fail = value("kind") == nullptr ? Kind::kAck : static_cast<Kind>(number("kind"));
  plan_.fail_at = static_cast<uint64_t>(number("at"));
  if (value("times") != nullptr)
    plan_.fail_times = static_cast<uint64_t>(number("times"));
  plan_.error = static_cast<int>(number("errno"));
  if (const char* only = value("only"))
    plan_.only = std::string(only, std::strcspn(only, ","));
  plan_.delay_us = static_cast<unsigned>(number("delay"));
}

uint64_t Shim::Random() {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return random_;
}

bool Shim::Chance(double probability) {
  return static_cast<double>(Random() % 1000000) < probability * 1e6;
}

bool Shim::Watched(const char* path, std::string* name) const {
  const std::string live = root_ + "/live";
  if (root_.empty() || path == nullptr || std::strncmp(path, live.c_str(), live.size()) != 0)
    return false;
  const char* rest = path + live.size();
  if (*rest != '/' && *rest != 0)
    return false;
  *name = *rest == '/' ? rest + 1 : rest;
  while (!name->empty() && name->back() == '/')
    name->pop_back();
  return true;
}

bool Shim::Fails(Kind kind, const std::string& name) {
  if (kind != plan_.fail || kind == Kind::kAck || name.find(plan_.only) == std::string::npos)
    return false;
  const uint64_t count = ++failing_;
  if (count < plan_.fail_at || count - plan_.fail_at >= plan_.fail_times)
    return false;
  Note("X " + std::to_string(static_cast<int>(kind)));
  return true;
}

void Shim::Event(Kind kind, const std::function<void()>& in_part) {
  events_++;
  const bool often = kind == Kind::kWrite || kind == Kind::kAck;
  const bool ends = events_ == plan_.exit_at;
  const bool snap = snaps_ < plan_.snaps_max && Chance(often ? plan_.snap : plan_.snap_rare);
  if ((ends || snap) && Chance(0.5))
    in_part();
  if (snap)
    Snapshot();
  if (ends)
    ::_exit(kExitCode);
}

int Shim::Step(Kind kind, const std::string& name) {
  if (kind != Kind::kRead && kind != Kind::kMap)
    Event(kind, [] {});
  return Fails(kind, name) ? plan_.error : 0;
}

int Shim::StepWrite(const Open& file, int fd, const void* bytes, size_t length,
                    const off_t* position) {
  // A process can end in the middle of a write. What a writer appends to has no position to name.
  Event(Kind::kWrite, [&] {
    if (length > 1 && position != nullptr)
      (void)!real().pwrite(fd, bytes, Random() % length, *position);
  });
  const bool fails = Fails(Kind::kWrite, file.name);
  short_write_ = fails && plan_.error == 0;
  return fails ? plan_.error : 0;
}

void Shim::Note(const std::string& line) {
  const std::string text = line + "\n";
  (void)!real().write(journal_, text.data(), text.size());
}

int Shim::OpenFile(const char* path, int flags, mode_t mode) {
  std::string name;
  const bool acks = !root_.empty() && root_ + "/acks" == path;
  if (!acks && !Watched(path, &name))
    return real().open(path, flags, mode);
  std::lock_guard<std::mutex> lock(mutex_);
  struct stat info;
  const bool makes = !acks && (flags & O_CREAT) != 0 && ::stat(path, &info) != 0;
  int error = 0;
  if (makes)
    error = Step(Kind::kOpen, name);
  else if (!acks && Fails(Kind::kOpen, name))
    error = plan_.error;
  if (error != 0) {
    errno = error;
    return -1;
  }
  const int fd = real().open(path, flags, mode);
  if (fd < 0 || ::fstat(fd, &info) != 0)
    return fd;
  Open opened{Open::What::kAcks, 0, name, info.st_dev, info.st_ino};
  if (!acks) {
    opened.what = S_ISDIR(info.st_mode) ? Open::What::kFolder : Open::What::kFile;
    int& id = files_[{info.st_dev, info.st_ino}];
    if (opened.what == Open::What::kFile && (makes || id == 0)) {
      id = ++ids_;
      Note("C " + name + " " + std::to_string(id));
    }
    opened.id = id;
  }
  open_[fd] = opened;
  return fd;
}

void Shim::Closed(int fd) {
  std::lock_guard<std::mutex> lock(mutex_);
  open_.erase(fd);
}

const Open* Shim::Find(int fd) {
  const auto found = open_.find(fd);
  if (found == open_.end())
    return nullptr;
  struct stat info;
  const Open& known = found->second;
  if (::fstat(fd, &info) == 0 && info.st_dev == known.device && info.st_ino == known.inode)
    return &known;
  open_.erase(found);
  return nullptr;
}

ssize_t Shim::Write(int fd, const void* bytes, size_t length, const off_t* position) {
  std::unique_lock<std::mutex> lock(mutex_);
  const Open* found = Find(fd);
  if (found == nullptr)
    lock.unlock();
  else if (found->what == Open::What::kAcks)
    (void)Step(Kind::kAck, "");
  else if (const int error = StepWrite(*found, fd, bytes, length, position)) {
    errno = error;
    return -1;
  } else if (short_write_ && length > 1) {
    length -= 1 + Random() % (length - 1);
  }
  return position == nullptr ? real().write(fd, bytes, length)
                             : real().pwrite(fd, bytes, length, *position);
}

int Shim::Sync(int fd) {
  std::unique_lock<std::mutex> lock(mutex_);
  const Open* found = Find(fd);
  if (found == nullptr) {
    lock.unlock();
    return real().fsync(fd);
  }
  const Open file = *found;
  const bool folder = file.what == Open::What::kFolder;
  if (const int error = Step(folder ? Kind::kFolder : Kind::kSync, file.name)) {
    if (!folder)
      Lose(fd, file.id);
    errno = error;
    return -1;
  }
  if (folder)
    Note("D " + file.name);
  else
    SaveImage(fd, file.id);
  const unsigned delay = plan_.delay_us == 0 ? 0 : Random() % plan_.delay_us;
  lock.unlock();
  if (delay > 0)
    ::usleep(delay);
  return 0;
}

void Shim::Lose(int fd, int id) {
  lost_[id] = Content(fd);
}

void Shim::SaveImage(int fd, int id) {
  const std::vector<char> content = Content(fd);
  const std::vector<char>& lost = lost_[id];
  const std::string path = root_ + "/image/" + std::to_string(id);
  const int image = real().open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (image < 0)
    return;
  const std::vector<char> before = Content(image);
  (void)!real().ftruncate(image, static_cast<off_t>(content.size()));
  const auto same = [&](const std::vector<char>& other, size_t at, size_t length) {
    return at + length <= other.size() &&
           std::memcmp(other.data() + at, content.data() + at, length) == 0;
  };
  for (size_t at = 0; at < content.size(); at += kSector) {
    const size_t length = std::min(kSector, content.size() - at);
    // What is as it was when a sync failed is clean to the kernel: it is not written again.
    if (!same(lost, at, length) && !same(before, at, length))
      (void)!real().pwrite(image, content.data() + at, length, static_cast<off_t>(at));
  }
  real().close(image);
}

} // namespace seglog::fault
