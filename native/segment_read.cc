// Lookups and reads of a segment, for the JavaScript thread: they take the lock only to see the
// state and the indexes, and read the file without it. See segment.h.
//
// An answer is what a scan of the whole log would say: an index entry is believed only after the
// batch that it names was seen, else the entry before it is tried.
#include "scan.h"
#include "segment.h"

#include <algorithm>

namespace seglog {

namespace {

// One interval of the index, as configured by default: most lookups need one read.
constexpr size_t kLookupBufferBytes = 4096;

// Entries that may turn out wrong before a lookup begins at the start of the log.
constexpr int kWrongEntriesMax = 8;

// A truncation that runs meanwhile makes a lookup fail; so often it is begun again.
constexpr int kAttemptsMax = 4;

} // namespace

Segment::View Segment::Snapshot() {
  std::lock_guard<std::mutex> lock(mutex_);
  return {size_, next_offset_, last_batch_from_, last_batch_position_, truncations_, damage_};
}

bool Segment::TruncatedSince(const View& view) {
  std::lock_guard<std::mutex> lock(mutex_);
  return truncations_ != view.truncations;
}

Status Segment::ScanFrom(int64_t offset, BatchScanner* scanner) {
  for (int attempt = 0; attempt < kWrongEntriesMax; attempt++) {
    Indexes::OffsetEntry entry;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      if (!indexes_.FloorOfOffset(offset, &entry))
        break;
    }
    if (scanner->end() <= entry.position)
      break;
    scanner->Restart(entry.position, base_offset_);
    const Status status = scanner->Next();
    if (status.ok() && scanner->header().last_offset() == entry.last_offset)
      return status;
    offset = entry.last_offset - 1;
  }
  scanner->Restart(0, base_offset_);
  return scanner->Next();
}

Status Segment::Find(int64_t offset, const View& view, BatchScanner* scanner) {
  Status status;
  if (offset >= view.last_batch_from) {
    scanner->Restart(view.last_batch_position, base_offset_);
    status = scanner->Next();
  } else {
    status = ScanFrom(offset, scanner);
  }
  while (status.ok() && scanner->header().last_offset() < offset)
    status = scanner->Next();
  return status;
}

Status Segment::LimitPosition(const View& view, int64_t limit_offset, BatchScanner* scanner,
                              uint64_t* position) {
  *position = view.size;
  if (limit_offset >= view.next_offset)
    return Status::Ok();
  const Status status = Find(limit_offset, view, scanner);
  if (status.error != 0)
    return status;
  // Before damage too there is something to give out.
  *position = scanner->position();
  return Status::Ok();
}

Status Segment::LocateIn(const View& view, int64_t offset, uint64_t bytes_max, int64_t limit_offset,
                         BatchRange* found) {
  *found = {};
  found->position = view.size;
  if (offset < base_offset_)
    return Status::Of(Code::kOffsetOutOfRange);
  if (offset >= view.next_offset) {
    if (view.damage != Code::kOk)
      return Status::Of(view.damage);
    return Status::Of(offset == view.next_offset ? Code::kOk : Code::kOffsetOutOfRange);
  }
  if (offset >= limit_offset)
    return Status::Ok();
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*file_, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  Status status = Find(offset, view, &scanner);
  if (status.code == Code::kNotFound)
    return Status::Ok(); // the gap that a truncation left
  if (!status.ok())
    return status;
  const BatchHeader first = scanner.header();
  const uint64_t position = scanner.position();
  uint64_t end;
  status = LimitPosition(view, limit_offset, &scanner, &end);
  if (!status.ok())
    return status;
  if (end <= position)
    return status; // the first batch holds the limit, or is above it
  found->base_offset = first.base_offset;
  found->last_offset = first.last_offset();
  found->max_timestamp = first.max_timestamp;
  found->leader_epoch = first.leader_epoch;
  found->position = position;
  found->length = std::min(std::max(bytes_max, first.size()), end - position);
  return status;
}

Status Segment::Locate(int64_t offset, uint64_t bytes_max, int64_t limit_offset,
                       BatchRange* found) {
  Status status;
  for (int attempt = 0; attempt < kAttemptsMax; attempt++) {
    const View view = Snapshot();
    status = LocateIn(view, offset, bytes_max, limit_offset, found);
    if (status.ok() || !TruncatedSince(view))
      break;
  }
  // Stored bytes that are no batch are corrupt, whichever rule they break.
  if (status.code == Code::kShort)
    return Status::Of(Code::kCorrupt);
  return status;
}

Status Segment::LocateTimestampIn(const View& view, int64_t timestamp, BatchRange* found) {
  int64_t floor;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (indexes_.max_timestamp() < timestamp || size_ == 0) {
      return Status::Of(damage_ != Code::kOk ? damage_ : Code::kNotFound);
    }
    floor = indexes_.FloorOfTimestamp(timestamp);
  }
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*file_, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  Status status = ScanFrom(floor, &scanner);
  while (status.ok() && scanner.header().max_timestamp < timestamp)
    status = scanner.Next();
  if (!status.ok())
    return status;
  const BatchHeader& header = scanner.header();
  *found = {header.base_offset,
            header.last_offset(),
            header.max_timestamp,
            header.leader_epoch,
            scanner.position(),
            header.size(),
            1};
  return status;
}

Status Segment::LocateTimestamp(int64_t timestamp, BatchRange* found) {
  Status status;
  for (int attempt = 0; attempt < kAttemptsMax; attempt++) {
    const View view = Snapshot();
    status = LocateTimestampIn(view, timestamp, found);
    if (status.ok() || !TruncatedSince(view))
      break;
  }
  if (status.code == Code::kShort)
    return Status::Of(Code::kCorrupt);
  return status;
}

Status Segment::Read(uint64_t position, void* target, size_t length, size_t* read) {
  *read = 0;
  const View view = Snapshot();
  if (position >= view.size)
    return Status::Ok();
  return file_->Read(position, target, std::min<uint64_t>(length, view.size - position), read);
}

Status Segment::Info(SegmentInfo* info) {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    info->base_offset = base_offset_;
    info->next_offset = next_offset_;
    info->max_timestamp = indexes_.max_timestamp();
    info->offset_of_max_timestamp = indexes_.offset_of_max_timestamp();
    info->size = size_;
  }
  return file_->Size(&info->file_bytes);
}

} // namespace seglog
