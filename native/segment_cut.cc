// Cuts the end of a segment and makes it take appends again. See segment.h.
#include "scan.h"
#include "segment.h"

#include <algorithm>

namespace seglog {

// The largest timestamp of what stays below a cut: that of the last time entry that stays, or of a
// batch behind the last offset entry that stays.
Status Segment::MaxBelow(const View& view, uint64_t cut, int64_t cut_offset,
                         Indexes::TimeEntry* max) {
  *max = {format::kNoTimestamp, -1};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    indexes_.TimeEntryBelow(cut_offset, max);
  }
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*view.file, 0, cut, base_offset_, base_offset_, buffer, sizeof buffer);
  Status status = ScanFrom(cut_offset - 1, &scanner);
  for (; status.ok(); status = scanner.Next()) {
    if (scanner.header().max_timestamp <= max->timestamp)
      continue;
    *max = {scanner.header().max_timestamp, scanner.header().last_offset()};
  }
  return status.code == Code::kNotFound ? Status::Ok() : status;
}

// Where a truncation cuts, and the offset that is next afterwards.
Status Segment::FindCut(const View& view, int64_t offset, uint64_t* cut, int64_t* next) {
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*view.file, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  const Status status = Walk(offset, view, &scanner);
  if (!status.ok() && status.code != Code::kNotFound)
    return status;
  *cut = scanner.position();
  // A batch that holds the offset goes whole. In a gap the log ends at the offset asked for.
  *next = status.ok() ? std::min(offset, scanner.header().base_offset) : offset;
  *next = std::max(*next, base_offset_);
  return Status::Ok();
}

// Opens the file of a segment at rest for writing. REQUIRES: both locks.
Status Segment::Activate() {
  if (at_rest_) {
    std::shared_ptr<File> file;
    const Status status = File::Open(PathOf(".log"), File::Mode::kReadWrite, &file);
    if (!status.ok())
      return status;
    file_ = std::move(file);
  }
  if (windows_ == nullptr)
    windows_ = std::make_unique<Windows>(file_, options_.segment_bytes, options_.mapped);
  at_rest_ = sealed_ = synced_ = false;
  return Status::Ok();
}

// REQUIRES: both locks, and an active segment with its windows halted and dropped.
Status Segment::Cut(uint64_t cut, int64_t next, const Indexes::TimeEntry& max) {
  const Status status = file_->Truncate(cut);
  if (!status.ok()) {
    fenced_ = true;
    return status;
  }
  size_ = last_batch_position_ = cut;
  next_offset_ = last_batch_from_ = next;
  truncations_++;
  damage_ = Code::kOk;
  full_ = false;
  indexes_.CutFrom(next);
  indexes_.SetMaxTimestamp(max.timestamp, max.offset);
  indexes_.Persist();
  return status;
}

Status Segment::Truncate(int64_t offset) {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  if (options_.read_only)
    return Status::Of(Code::kReadOnly);
  View view;
  Status status = Snapshot(true, &view);
  if (!status.ok())
    return status;
  if (offset > view.next_offset && view.damage != Code::kOk)
    return Status::Of(view.damage);
  const bool cuts = offset < view.next_offset || view.damage != Code::kOk;
  uint64_t cut;
  int64_t next;
  Indexes::TimeEntry max;
  if (cuts)
    status = FindCut(view, offset, &cut, &next);
  if (status.ok() && cuts)
    status = MaxBelow(view, cut, next, &max);
  if (!status.ok())
    return status;

  // Now or never: a segment at rest must not lose its indexes meanwhile.
  Residents::Remove(this);
  if (windows_ != nullptr)
    windows_->Halt();
  std::lock_guard<std::mutex> persisting(persisting_);
  std::lock_guard<std::mutex> lock(mutex_);
  if (windows_ != nullptr)
    windows_->Drop();
  status = fenced_ ? Status::Of(Code::kFenced) : Load(true);
  if (status.ok())
    status = Activate();
  if (status.ok() && cuts)
    status = Cut(cut, next, max);
  if (windows_ != nullptr)
    windows_->Resume();
  return status;
}

} // namespace seglog
