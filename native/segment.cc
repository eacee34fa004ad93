// What changes a segment: create, append, flush, truncate, seal. See segment.h; opening is in
// segment_open.cc, lookups and reads in segment_read.cc.
#include "segment.h"

#include "helper.h"
#include "scan.h"

#include <algorithm>
#include <unistd.h>

namespace seglog {

namespace {

// Entries that may be missing in the files of the indexes before an append writes them: a page.
constexpr size_t kPendingEntriesMax = 512;
// After a flush, so that a recovery has little to read above the recovery point.
constexpr size_t kFlushedEntriesMax = 16;

// Smaller segments are filled before a spare could be made.
constexpr uint64_t kSpareSegmentBytesMin = uint64_t{1} << 20;

uint64_t SpareAt(const SegmentOptions& options) {
  const bool wanted = options.segment_bytes >= kSpareSegmentBytesMin;
  return wanted ? options.segment_bytes / 4 * 3 : UINT64_MAX;
}

} // namespace

Segment::Segment(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                 std::shared_ptr<File> file)
    : base_offset_(base_offset), path_(path), options_(options), file_(std::move(file)),
      indexes_(path, options.suffix, base_offset, options.index_interval_bytes),
      spare_at_(SpareAt(options)), next_offset_(base_offset), last_batch_from_(base_offset) {
  if (file_ != nullptr && !options.read_only)
    windows_ = std::make_unique<Windows>(file_, options.segment_bytes, options.mapped);
}

Segment::~Segment() {
  Residents::Remove(this);
  if (spare_ != nullptr)
    spare_->Drop();
}

Status Segment::Create(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                       std::shared_ptr<Segment>* result) {
  const std::string name = path + ".log" + options.suffix;
  std::shared_ptr<File> file;
  Status status = Spare::Take(name, &file);
  const bool taken = file != nullptr;
  if (status.ok() && !taken)
    status = File::Open(name, File::Mode::kCreate, &file);
  if (!status.ok())
    return status;
  std::shared_ptr<Segment> segment(new Segment(path, base_offset, options, file));
  if (taken) {
    segment->indexes_.CreateLater();
  } else {
    status = segment->indexes_.Create();
  }
  if (status.ok()) {
    *result = std::move(segment);
  } else if (::unlink(name.c_str()) != 0 && errno != ENOENT) { // empty, and made here
    // The segment before it would end here at the next start, whatever it held by then.
    status = Status::FromErrno(errno);
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
  const Status status = source == Source::kEncoder
                            ? CheckEncodedBatch(bytes, length, &header)
                            : CheckClientBatch(bytes, length, &header, record);
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
  if (full_ || range.last_offset - base_offset_ > format::kRelativeOffsetMax)
    return Status::Of(Code::kSegmentFull);
  return Status::Ok();
}

Status Segment::Put(const uint8_t* bytes, size_t length) {
  if (windows_->Copy(size_, bytes, length))
    return Status::Ok();
  windows_->WillWrite(size_, length);
  const Status status = file_->Write(size_, bytes, length);
  if (status.ok())
    return status;
  if (status.code != Code::kNoSpace) {
    fenced_ = true;
  } else if (windows_->Idle()) {
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
  windows_->Extended(size_, range.length);
  if (size_ >= spare_at_)
    AskForSpare();
  if (indexes_.pending() >= kPendingEntriesMax && !persist_asked_)
    AskToPersist();
}

void Segment::AskToPersist() {
  persist_asked_ = Helper::Post([weak = weak_from_this()] {
    if (const std::shared_ptr<Segment> segment = weak.lock())
      segment->PersistIndexes();
  });
  // Nobody else does it now; the next flush would.
  if (!persist_asked_ && indexes_.pending() >= 8 * kPendingEntriesMax)
    indexes_.Persist();
}

void Segment::PersistIndexes() {
  std::lock_guard<std::mutex> persisting(persisting_);
  Indexes::Pending pending;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    persist_asked_ = false;
    if (at_rest_ || deleted_)
      return;
    pending = indexes_.TakePending();
  }
  Indexes::Write(&pending);
  std::lock_guard<std::mutex> lock(mutex_);
  indexes_.Wrote(pending);
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
  if (source == Source::kEncoder)
    SumBatch(bytes, length);
  if (source != Source::kLeader) {
    epoch_before = LoadBig<int32_t>(bytes + format::kLeaderEpoch);
    StampBatch(bytes, range.base_offset, leader_epoch);
    range.leader_epoch = leader_epoch;
  }
  status = Put(bytes, length);
  if (!status.ok()) {
    if (source != Source::kLeader)
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
    if (options_.read_only || synced_)
      return Status::Ok();
    if (windows_ != nullptr)
      windows_->Flushed();
    // Nobody waits for the indexes: what they lack, recovery finds in the log.
    if (indexes_.pending() >= kFlushedEntriesMax && !persist_asked_)
      AskToPersist();
  }
  std::shared_ptr<File> file;
  Status status = UseFile(&file);
  if (!status.ok())
    return status;
  status = file->Sync();
  if (status.ok())
    return status;
  std::lock_guard<std::mutex> lock(mutex_);
  fenced_ = true;
  return status;
}

void Segment::EndAppends() {
  std::lock_guard<std::mutex> lock(mutex_);
  sealed_ = true;
}

Status Segment::Seal(bool sync) {
  std::lock_guard<std::mutex> maintenance(maintenance_);
  std::shared_ptr<Spare> spare;
  std::shared_ptr<File> file;
  bool rested;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (options_.read_only || !sealed_ || deleted_ || (at_rest_ && (synced_ || !sync)))
      return Status::Ok();
    rested = at_rest_;
    spare = std::move(spare_);
  }
  if (spare != nullptr)
    spare->Drop();
  Status status = rested ? UseFile(&file) : Trim(&file);
  if (file == nullptr)
    return status;
  if (status.ok() && sync)
    status = file->Sync();
  if (status.ok() && sync)
    indexes_.Sync();
  size_t memory_now;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!status.ok()) {
      fenced_ = true;
      return status;
    }
    at_rest_ = true;
    synced_ = sync;
    memory_now = memory();
  }
  Residents::Use(shared_from_this(), memory_now);
  return status;
}

// Ends what is reserved, mapped and kept in memory alone. *file stays null where there is nothing
// to do with it.
Status Segment::Trim(std::shared_ptr<File>* file) {
  if (windows_ != nullptr)
    windows_->Halt();
  std::unique_ptr<Windows> windows; // its end may wait
  uint64_t size, file_bytes;
  {
    std::lock_guard<std::mutex> persisting(persisting_);
    std::lock_guard<std::mutex> lock(mutex_);
    if (windows_ != nullptr)
      windows_->Drop();
    windows = std::move(windows_);
    if (fenced_)
      return Status::Of(Code::kFenced);
    if (damage_ != Code::kOk)
      return Status::Ok();
    indexes_.Finish();
    indexes_.Persist();
    size = size_;
    *file = file_;
  }
  Status status = (*file)->Size(&file_bytes);
  if (status.ok() && file_bytes > size)
    status = (*file)->Truncate(size);
  return status;
}

} // namespace seglog
