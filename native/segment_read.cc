// Lookups and reads of a segment, for the JavaScript thread: they take the lock only to see the
// state and the indexes, and read the file without it. How a batch is found is in segment_find.cc;
// see segment.h.
#include "scan.h"
#include "segment.h"

#include <algorithm>

namespace seglog {

namespace {

// A truncation that runs meanwhile makes a lookup fail; so often it is begun again.
constexpr int kAttemptsMax = 4;

} // namespace

Status Segment::Snapshot(bool with_indexes, View* view) {
  size_t memory_now;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (at_rest_) {
      const Status status = Load(with_indexes);
      if (!status.ok())
        return status;
    }
    *view = {file_,        size_,  next_offset_, last_batch_from_, last_batch_position_,
             truncations_, damage_};
    if (!at_rest_)
      return Status::Ok();
    memory_now = memory();
  }
  Residents::Use(shared_from_this(), memory_now);
  return Status::Ok();
}

bool Segment::TruncatedSince(const View& view) {
  std::lock_guard<std::mutex> lock(mutex_);
  return truncations_ != view.truncations;
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
  BatchScanner scanner(*view.file, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  Status status = Find(offset, view, &scanner);
  if (status.code == Code::kNotFound)
    return Status::Ok(); // the gap that a truncation or a compaction left
  if (!status.ok())
    return status;
  const BatchHeader first = scanner.header();
  const uint64_t position = scanner.position();
  uint64_t end;
  status = LimitPosition(view, limit_offset, first, position, &end);
  if (!status.ok() || end <= position)
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
    View view;
    status = Snapshot(true, &view);
    if (!status.ok())
      return status;
    status = LocateIn(view, offset, bytes_max, limit_offset, found);
    if (status.ok() || !TruncatedSince(view))
      break;
  }
  return status;
}

Status Segment::LocateTimestampIn(const View& view, int64_t timestamp, BatchRange* found) {
  bool hold;
  Status status = TimesHold(view, timestamp, &hold);
  if (!status.ok())
    return status;
  int64_t floor;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!hold)
      status = RebuildIndexes();
    if (!status.ok())
      return status;
    if (indexes_.max_timestamp() < timestamp || view.size == 0)
      return Status::Of(damage_ != Code::kOk ? damage_ : Code::kNotFound);
    floor = indexes_.FloorOfTimestamp(timestamp);
  }
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*view.file, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  status = FindTimestamp(timestamp, floor, &scanner);
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
    View view;
    status = Snapshot(true, &view);
    if (!status.ok())
      return status;
    status = LocateTimestampIn(view, timestamp, found);
    if (status.ok() || !TruncatedSince(view))
      break;
  }
  return status;
}

Status Segment::Read(uint64_t position, void* target, size_t length, size_t* read) {
  *read = 0;
  View view;
  const Status status = Snapshot(false, &view);
  if (!status.ok() || position >= view.size)
    return status;
  return view.file->Read(position, target, std::min<uint64_t>(length, view.size - position), read);
}

Status Segment::UseFile(std::shared_ptr<File>* file) {
  View view;
  const Status status = Snapshot(false, &view);
  if (status.ok())
    *file = std::move(view.file);
  return status;
}

void Segment::State(SegmentInfo* info) {
  std::lock_guard<std::mutex> lock(mutex_);
  info->base_offset = base_offset_;
  info->next_offset = next_offset_;
  info->max_timestamp = timestamps_known_ ? indexes_.max_timestamp() : kUnknownTimestamp;
  info->offset_of_max_timestamp = indexes_.offset_of_max_timestamp();
  info->size = size_;
}

Status Segment::Info(SegmentInfo* info) {
  State(info);
  if (info->max_timestamp == kUnknownTimestamp) {
    const Status status = LoadIndexes();
    if (!status.ok())
      return status;
    State(info);
  }
  std::shared_ptr<File> file;
  std::string path;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    file = file_;
    if (file == nullptr)
      path = PathOf(".log");
  }
  return file != nullptr ? file->Size(&info->file_bytes) : File::SizeOf(path, &info->file_bytes);
}

} // namespace seglog
