// What changes a segment: create, append, flush, truncate, seal. See segment.h; opening is in
// segment_open.cc, lookups and reads in segment_read.cc.
#include "segment.h"

#include "scan.h"

#include <algorithm>
#include <unistd.h>

namespace seglog {

namespace {

// Entries that may be missing in the files of the indexes before an append writes them: a page.
constexpr size_t kPendingEntriesMax = 512;

constexpr size_t kLookupBufferBytes = 4096;

} // namespace

Segment::Segment(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                 std::shared_ptr<File> file)
    : path_(path), base_offset_(base_offset), options_(options), file_(std::move(file)),
      indexes_(path, base_offset, options.index_interval_bytes),
      windows_(file_, options.segment_bytes, options.mapped && !options.read_only),
      next_offset_(base_offset), last_batch_from_(base_offset) {}

Segment::~Segment() = default;

Status Segment::Create(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                       std::shared_ptr<Segment>* result) {
  std::shared_ptr<File> file;
  Status status = File::Open(path + ".log", File::Mode::kCreate, &file);
  if (!status.ok())
    return status;
  std::shared_ptr<Segment> segment(new Segment(path, base_offset, options, file));
  status = segment->indexes_.Create();
  if (status.ok()) {
    *result = std::move(segment);
  } else {
    ::unlink(file->path().c_str()); // empty, and made here
  }
  return status;
}

Status Segment::AdmitLeader(const uint8_t* bytes, size_t length, BatchRange* range) const {
  int64_t offset_min = next_offset_;
  for (size_t position = 0; position < length; range->batches++) {
    const size_t left = length - position;
    if (left <= format::kMagic)
      return Status::Of(Code::kCorrupt);
    const auto magic = LoadBig<int8_t>(bytes + position + format::kMagic);
    if (magic != format::kMagicV2)
      return Status::Of(Code::kBadMagic);
    if (left < format::kHeaderBytes)
      return Status::Of(Code::kCorrupt);
    const BatchHeader header = ReadHeader(bytes + position);
    const Status status = CheckStoredHeader(header);
    if (!status.ok())
      return status;
    if (header.size() > left || !CrcMatches(bytes + position, header)) {
      return Status::Of(Code::kCorrupt);
    }
    if (header.base_offset < offset_min)
      return Status::Of(Code::kOffsetOutOfRange);
    if (position == 0)
      range->base_offset = header.base_offset;
    range->last_offset = header.last_offset();
    range->max_timestamp = std::max(range->max_timestamp, header.max_timestamp);
    range->leader_epoch = header.leader_epoch;
    offset_min = header.last_offset() + 1;
    position += header.size();
  }
  return range->batches > 0 ? Status::Ok() : Status::Of(Code::kCorrupt);
}

Status Segment::Admit(const uint8_t* bytes, size_t length, Source source, BatchRange* range,
                      int32_t* record) const {
  range->position = size_;
  range->length = length;
  if (source == Source::kLeader)
    return AdmitLeader(bytes, length, range);
  BatchHeader header;
  const Status status = CheckClientBatch(bytes, length, &header, record);
  if (!status.ok())
    return status;
  if (next_offset_ > format::kOffsetMax - header.last_offset_delta) {
    return Status::Of(Code::kOffsetTooLarge);
  }
  range->base_offset = next_offset_;
  range->last_offset = next_offset_ + header.last_offset_delta;
  range->max_timestamp = header.max_timestamp;
  range->batches = 1;
  return Status::Ok();
}

Status Segment::Fits(const BatchRange& range) const {
  const uint64_t bytes_max = size_ > 0 ? options_.segment_bytes : format::kSegmentBytesMax;
  if (range.length > bytes_max || size_ > bytes_max - range.length) {
    return Status::Of(Code::kSegmentFull);
  }
  if (range.last_offset - base_offset_ > format::kRelativeOffsetMax) {
    return Status::Of(Code::kSegmentFull);
  }
  return Status::Ok();
}

Status Segment::Put(const uint8_t* bytes, size_t length) {
  if (length < kCopyBelowBytes && windows_.Copy(size_, bytes, length))
    return Status::Ok();
  const Status status = file_->Write(size_, bytes, length);
  if (status.ok())
    return status;
  if (status.code != Code::kNoSpace) {
    fenced_ = true;
  } else if (windows_.Idle()) {
    // Gives back what a part of the batch took. Where that fails the bytes stay above `size`.
    (void)file_->Truncate(size_);
  }
  return status;
}

void Segment::Publish(const uint8_t* bytes, const BatchRange& range) {
  for (uint64_t position = 0; position < range.length;) {
    const BatchHeader header = ReadHeader(bytes + position);
    indexes_.Add(header, size_ + position);
    last_batch_position_ = size_ + position;
    last_batch_from_ = next_offset_;
    next_offset_ = header.last_offset() + 1;
    position += header.size();
  }
  size_ += range.length;
  windows_.Extended(size_, range.length, range.length < kCopyBelowBytes);
  if (indexes_.pending() >= kPendingEntriesMax)
    indexes_.Persist();
}

Status Segment::Append(uint8_t* bytes, size_t length, Source source, int32_t leader_epoch,
                       BatchRange* appended, int32_t* record) {
  *record = -1;
  std::lock_guard<std::mutex> lock(mutex_);
  if (sealed_ || options_.read_only)
    return Status::Of(Code::kReadOnly);
  if (fenced_ || damage_ != Code::kOk)
    return Status::Of(Code::kFenced);
  BatchRange range;
  Status status = Admit(bytes, length, source, &range, record);
  if (status.ok())
    status = Fits(range);
  if (!status.ok())
    return status;
  int32_t epoch_before = 0;
  if (source == Source::kClient) {
    epoch_before = LoadBig<int32_t>(bytes + format::kLeaderEpoch);
    StampBatch(bytes, range.base_offset, leader_epoch);
    range.leader_epoch = leader_epoch;
  }
  status = Put(bytes, length);
  if (!status.ok()) {
    if (source == Source::kClient)
      StampBatch(bytes, 0, epoch_before);
    return status;
  }
  Publish(bytes, range);
  *appended = range;
  return status;
}

Status Segment::Flush() {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (fenced_)
      return Status::Of(Code::kFenced);
    if (options_.read_only)
      return Status::Ok();
    indexes_.Persist();
    windows_.Flushed();
  }
  const Status status = file_->Sync();
  if (status.ok())
    return status;
  std::lock_guard<std::mutex> lock(mutex_);
  fenced_ = true;
  return status;
}

// The largest timestamp of what stays below a cut: that of the last time entry that stays, or of a
// batch behind the last offset entry that stays.
Status Segment::MaxBelow(uint64_t cut, int64_t cut_offset, Indexes::TimeEntry* max) {
  *max = {format::kNoTimestamp, -1};
  {
    std::lock_guard<std::mutex> lock(mutex_);
    indexes_.TimeEntryBelow(cut_offset, max);
  }
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*file_, 0, cut, base_offset_, base_offset_, buffer, sizeof buffer);
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
  BatchScanner scanner(*file_, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  const Status status = Find(offset, view, &scanner);
  if (!status.ok() && status.code != Code::kNotFound)
    return status;
  *cut = scanner.position();
  // A batch that holds the offset goes whole. In a gap the log ends at the offset asked for.
  *next = status.ok() ? std::min(offset, scanner.header().base_offset) : offset;
  *next = std::max(*next, base_offset_);
  return Status::Ok();
}

Status Segment::Truncate(int64_t offset) {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  const View view = Snapshot();
  if (options_.read_only)
    return Status::Of(Code::kReadOnly);
  if (offset > view.next_offset && view.damage != Code::kOk)
    return Status::Of(view.damage);
  if (offset >= view.next_offset && view.damage == Code::kOk)
    return Status::Ok();
  uint64_t cut;
  int64_t next;
  Indexes::TimeEntry max;
  Status status = FindCut(view, offset, &cut, &next);
  if (status.ok())
    status = MaxBelow(cut, next, &max);
  if (!status.ok())
    return status;

  windows_.Halt();
  std::lock_guard<std::mutex> lock(mutex_);
  windows_.Drop();
  status = fenced_ ? Status::Of(Code::kFenced) : file_->Truncate(cut);
  if (status.ok()) {
    size_ = last_batch_position_ = cut;
    next_offset_ = last_batch_from_ = next;
    truncations_++;
    damage_ = Code::kOk;
    indexes_.CutFrom(next);
    indexes_.SetMaxTimestamp(max.timestamp, max.offset);
    indexes_.Persist();
  } else {
    fenced_ = true;
  }
  windows_.Resume();
  return status;
}

void Segment::EndAppends() {
  std::lock_guard<std::mutex> lock(mutex_);
  sealed_ = true;
}

Status Segment::Seal(bool sync) {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  if (options_.read_only)
    return Status::Ok();
  windows_.Halt();
  uint64_t size, file_bytes;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    windows_.Drop();
    if (fenced_)
      return Status::Of(Code::kFenced);
    if (damage_ != Code::kOk)
      return Status::Ok();
    indexes_.Finish();
    indexes_.Persist();
    size = size_;
  }
  Status status = file_->Size(&file_bytes);
  if (status.ok() && file_bytes > size)
    status = file_->Truncate(size);
  if (status.ok() && sync)
    status = file_->Sync();
  if (status.ok()) {
    if (sync)
      indexes_.Sync();
    return status;
  }
  std::lock_guard<std::mutex> lock(mutex_);
  fenced_ = true;
  return status;
}

} // namespace seglog
