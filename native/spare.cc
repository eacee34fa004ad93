// Spares by folder. See spare.h.
#include "spare.h"

#include "helper.h"

#include <cerrno>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>
#include <unordered_map>

namespace seglog {

namespace {

struct Registry {
  std::mutex mutex;
  std::unordered_map<std::string, std::weak_ptr<Spare>> spares; // by directory

  // Never destroyed: threads of another environment may outlast the static objects of the process.
  static Registry& Shared() {
    static Registry* registry = new Registry;
    return *registry;
  }
};

std::string DirectoryOf(const std::string& path) {
  const size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

// As rename, but never over a file that is there. Returns errno or 0.
int RenameToFree(const std::string& from, const std::string& to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0)
    return 0;
  if (errno != EINVAL && errno != ENOSYS)
    return errno;
#endif
  // A file system that cannot promise it: the folder is locked by its owner, so a look is enough.
  if (::access(to.c_str(), F_OK) == 0)
    return EEXIST;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

} // namespace

std::shared_ptr<Spare> Spare::Prepare(const std::string& path) {
  const std::string directory = DirectoryOf(path);
  Registry& registry = Registry::Shared();
  std::shared_ptr<Spare> spare;
  {
    std::lock_guard<std::mutex> lock(registry.mutex);
    std::weak_ptr<Spare>& entry = registry.spares[directory];
    if (!entry.expired())
      return nullptr;
    spare.reset(new Spare(directory + "/spare.log.deleted"));
    entry = spare;
  }
  return Helper::Post([spare] { spare->Make(); }) ? spare : nullptr;
}

void Spare::Make() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (over_)
    return;
  Status status = File::Open(path_, File::Mode::kCreate, &file_);
  if (status.code == Code::kExists) {
    ::unlink(path_.c_str());
    status = File::Open(path_, File::Mode::kCreate, &file_);
  }
  over_ = !status.ok();
}

Status Spare::Take(const std::string& path, std::shared_ptr<File>* file) {
  Registry& registry = Registry::Shared();
  std::shared_ptr<Spare> spare;
  {
    std::lock_guard<std::mutex> lock(registry.mutex);
    const auto found = registry.spares.find(DirectoryOf(path));
    if (found == registry.spares.end())
      return Status::Ok();
    spare = found->second.lock();
    registry.spares.erase(found);
  }
  if (spare == nullptr)
    return Status::Ok();
  // Not waited for: who makes it just now holds the lock.
  std::unique_lock<std::mutex> lock(spare->mutex_, std::try_to_lock);
  if (!lock.owns_lock() || spare->file_ == nullptr)
    return Status::Ok();
  const int error = RenameToFree(spare->path_, path);
  if (error == EEXIST)
    return Status::FromErrno(error);
  if (error == 0) {
    *file = std::move(spare->file_);
    (*file)->Renamed(path);
    spare->over_ = true;
  }
  return Status::Ok();
}

void Spare::Drop() {
  Registry& registry = Registry::Shared();
  {
    std::lock_guard<std::mutex> lock(registry.mutex);
    const auto found = registry.spares.find(DirectoryOf(path_));
    if (found != registry.spares.end() && found->second.lock().get() == this)
      registry.spares.erase(found);
  }
  std::lock_guard<std::mutex> lock(mutex_);
  if (file_ != nullptr)
    ::unlink(path_.c_str());
  file_.reset();
  over_ = true;
}

} // namespace seglog
