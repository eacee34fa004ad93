// A segment at rest: what it needs is had from its files when a lookup comes, and let go of when
// others are used more. And what happens to the names of the files: renaming, moving, removal. See
// segment.h.
//
// Loading checks the indexes against each other and against the log, and makes them anew from the
// log where they do not fit, through one buffer. All of that is done at once by the lookup that
// needs it: some milliseconds for the indexes of 1 GiB, a read of the .log where they are lost.
#include "scan.h"
#include "segment.h"

#include <cerrno>
#include <unistd.h>

namespace seglog {

namespace {

constexpr const char* kEndings[] = {".log", ".index", ".timeindex"};

} // namespace

Status Segment::Load(bool with_indexes) {
  if (deleted_)
    return Status::Of(Code::kClosed);
  if (file_ == nullptr) {
    const std::string path = PathOf(".log");
    Status status = File::Open(path, File::Mode::kReadOnly, &file_);
    if (status.error == EMFILE || status.error == ENFILE) {
      Residents::LeaveAllBut(this);
      status = File::Open(path, File::Mode::kReadOnly, &file_);
    }
    if (!status.ok())
      return status;
  }
  return with_indexes && !indexes_loaded_ ? LoadIndexFiles() : Status::Ok();
}

Status Segment::LoadIndexFiles() {
  Indexes::OffsetEntry last = {base_offset_, 0};
  if (!indexes_.Load(size_) || !IndexesFit(size_, &last))
    return RebuildIndexes();
  // What the files lack behind their last entry.
  const ScanScope scope = {last.position, size_, base_offset_, base_offset_, next_offset_, false};
  return FillIndexes(scope);
}

// From all of the log, with sums: what is indexed then is not led astray by damage.
Status Segment::RebuildIndexes() {
  indexes_.Clear();
  return FillIndexes({0, size_, base_offset_, base_offset_, next_offset_, true});
}

Status Segment::FillIndexes(const ScanScope& scope) {
  ScanResult result;
  const Status status = ScanLog(*file_, scope, &indexes_, &result);
  if (!status.ok()) {
    indexes_.Unload();
    indexes_loaded_ = false;
    return status;
  }
  indexes_loaded_ = timestamps_known_ = true;
  if (!options_.read_only)
    indexes_.Persist();
  return status;
}

Status Segment::LoadIndexes() {
  View view;
  return Snapshot(true, &view);
}

void Segment::Leave() {
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || !at_rest_)
    return; // in use: whoever uses it puts it on the list again
  file_.reset();
  indexes_.Unload();
  indexes_loaded_ = false;
}

Status Segment::Rename(const std::string& suffix) {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  std::lock_guard<std::mutex> persisting(persisting_);
  std::lock_guard<std::mutex> lock(mutex_);
  if (deleted_)
    return Status::Of(Code::kClosed);
  for (const char* ending : kEndings) {
    const std::string from = PathOf(ending), to = path_ + ending + suffix;
    if (::rename(from.c_str(), to.c_str()) == 0)
      continue;
    // An index may be missing; then it is made anew. An old one must not take its place.
    if (ending == kEndings[0])
      return Status::FromErrno(errno);
    ::unlink(to.c_str());
  }
  options_.suffix = suffix;
  indexes_.Named(path_, suffix);
  return Status::Ok();
}

void Segment::Moved(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  path_ = path;
  indexes_.Named(path_, options_.suffix);
}

Status Segment::Delete() {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  if (windows_ != nullptr)
    windows_->Halt();
  std::unique_ptr<Windows> windows;
  std::shared_ptr<Spare> spare;
  std::string paths[3];
  {
    std::lock_guard<std::mutex> persisting(persisting_);
    std::lock_guard<std::mutex> lock(mutex_);
    if (windows_ != nullptr)
      windows_->Drop();
    windows = std::move(windows_);
    spare = std::move(spare_);
    sealed_ = deleted_ = true;
    if (file_ != nullptr)
      file_->Unlinked();
    for (int i = 0; i < 3; i++)
      paths[i] = PathOf(kEndings[i]);
  }
  Residents::Remove(this);
  if (spare != nullptr)
    spare->Drop();
  Status status;
  for (const std::string& path : paths) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT && status.ok())
      status = Status::FromErrno(errno);
  }
  return status;
}

void Segment::PrepareSpare() {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!sealed_)
    AskForSpare();
}

void Segment::AskForSpare() {
  spare_at_ = UINT64_MAX;
  if (spare_ == nullptr && !options_.read_only && options_.suffix.empty())
    spare_ = Spare::Prepare(path_);
}

} // namespace seglog
