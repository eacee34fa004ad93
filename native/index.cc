// Entries, lookups by binary search, and their files. See index.h.
#include "index.h"

#include <algorithm>
#include <unistd.h>

namespace seglog {

// So many intervals of the index are scanned rather than passed over.
constexpr size_t kScannedEntriesMax = 64;

namespace {

// A descriptor is not kept: files of indexes are written seldom, and segments are many.
Status OpenOrMake(const std::string& path, std::shared_ptr<File>* file) {
  const Status status = File::Open(path, File::Mode::kReadWrite, file);
  if (status.code != Code::kNotFound)
    return status;
  return File::Open(path, File::Mode::kCreate, file);
}

// The first index in [0, count) that `after` is true of. REQUIRES: false before, true behind.
template <typename Predicate> size_t PartitionPoint(size_t count, Predicate after) {
  size_t low = 0, high = count;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (after(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

} // namespace

uint8_t* EntryTable::Append() {
  bytes_.resize(bytes_.size() + entry_bytes_);
  return bytes_.data() + bytes_.size() - entry_bytes_;
}

Status EntryTable::Create() {
  std::shared_ptr<File> file;
  const Status status = OpenOrMake(path_, &file);
  return status.ok() ? file->Truncate(0) : status;
}

Status EntryTable::Load(uint64_t bytes_max) {
  bytes_.clear();
  persisted_ = 0;
  std::shared_ptr<File> file;
  uint64_t size;
  Status status = File::Open(path_, File::Mode::kReadOnly, &file);
  if (status.ok())
    status = file->Size(&size);
  if (!status.ok())
    return status;
  cut_pending_ = size > 0;
  if (size % entry_bytes_ != 0 || size > bytes_max)
    return Status::Of(Code::kCorrupt);
  bytes_.resize(size);
  size_t read;
  status = file->Read(0, bytes_.data(), bytes_.size(), &read);
  if (status.ok() && read != size)
    status = Status::Of(Code::kShort);
  if (!status.ok()) {
    bytes_.clear();
    return status;
  }
  persisted_ = bytes_.size();
  cut_pending_ = false;
  return Status::Ok();
}

void EntryTable::Unload() {
  std::vector<uint8_t>().swap(bytes_);
  persisted_ = 0;
  cut_pending_ = false;
}

void EntryTable::Cut(size_t count) {
  bytes_.resize(count * entry_bytes_);
  if (persisted_ <= bytes_.size())
    return;
  persisted_ = bytes_.size();
  cut_pending_ = true;
}

EntryTable::Pending EntryTable::TakePending() const {
  if (given_up_ || (persisted_ == bytes_.size() && !cut_pending_))
    return {};
  return {path_,
          {bytes_.begin() + static_cast<ptrdiff_t>(persisted_), bytes_.end()},
          persisted_,
          cut_pending_};
}

bool EntryTable::Write(const Pending& pending) {
  if (pending.path.empty())
    return true;
  std::shared_ptr<File> file;
  Status status = OpenOrMake(pending.path, &file);
  if (status.ok() && pending.cut)
    status = file->Truncate(pending.position);
  if (status.ok())
    status = file->Write(pending.position, pending.bytes.data(), pending.bytes.size());
  if (!status.ok())
    ::unlink(pending.path.c_str());
  return status.ok();
}

void EntryTable::Wrote(const Pending& pending, bool written) {
  if (pending.path.empty())
    return;
  given_up_ = !written;
  if (!written)
    return;
  persisted_ = pending.position + pending.bytes.size();
  cut_pending_ = false;
}

void EntryTable::Persist() {
  const Pending pending = TakePending();
  Wrote(pending, Write(pending));
}

void EntryTable::Sync() const {
  std::shared_ptr<File> file;
  if (given_up_)
    return;
  Status status = File::Open(path_, File::Mode::kReadWrite, &file);
  if (status.ok())
    status = file->Sync();
  if (!status.ok())
    ::unlink(path_.c_str());
}

Indexes::Indexes(const std::string& path, const std::string& suffix, int64_t base_offset,
                 uint32_t interval_bytes)
    : base_offset_(base_offset), interval_bytes_(interval_bytes),
      offsets_(path + ".index" + suffix, format::kOffsetEntryBytes),
      times_(path + ".timeindex" + suffix, format::kTimeEntryBytes) {}

void Indexes::Named(const std::string& path, const std::string& suffix) {
  offsets_.Named(path + ".index" + suffix);
  times_.Named(path + ".timeindex" + suffix);
}

Indexes::OffsetEntry Indexes::offset_entry(size_t index) const {
  const uint8_t* entry = offsets_.at(index);
  return {base_offset_ + LoadBig<uint32_t>(entry),
          LoadBig<uint32_t>(entry + format::kOffsetEntryPosition)};
}

Indexes::TimeEntry Indexes::time_entry(size_t index) const {
  const uint8_t* entry = times_.at(index);
  return {LoadBig<int64_t>(entry),
          base_offset_ + LoadBig<uint32_t>(entry + format::kTimeEntryOffset)};
}

void Indexes::AddTimeEntry() {
  const size_t count = times_.count();
  const int64_t before = count == 0 ? format::kNoTimestamp : time_entry(count - 1).timestamp;
  if (max_timestamp_ <= before)
    return;
  uint8_t* entry = times_.Append();
  StoreBig<int64_t>(entry, max_timestamp_);
  StoreBig<uint32_t>(entry + format::kTimeEntryOffset,
                     static_cast<uint32_t>(offset_of_max_timestamp_ - base_offset_));
}

void Indexes::Add(const BatchHeader& header, uint64_t position) {
  if (header.max_timestamp > max_timestamp_) {
    SetMaxTimestamp(header.max_timestamp, header.last_offset());
  }
  const size_t count = offsets_.count();
  const uint64_t before = count == 0 ? 0 : offset_entry(count - 1).position;
  if (position - before <= interval_bytes_)
    return;
  uint8_t* entry = offsets_.Append();
  StoreBig<uint32_t>(entry, static_cast<uint32_t>(header.last_offset() - base_offset_));
  StoreBig<uint32_t>(entry + format::kOffsetEntryPosition, static_cast<uint32_t>(position));
  AddTimeEntry();
}

void Indexes::Finish() {
  AddTimeEntry();
}

void Indexes::SetMaxTimestamp(int64_t timestamp, int64_t offset) {
  max_timestamp_ = timestamp;
  offset_of_max_timestamp_ = offset;
}

size_t Indexes::OffsetsUpTo(int64_t offset) const {
  return PartitionPoint(offsets_.count(),
                        [&](size_t i) { return offset_entry(i).last_offset > offset; });
}

size_t Indexes::TimesBelow(int64_t timestamp) const {
  return PartitionPoint(times_.count(),
                        [&](size_t i) { return time_entry(i).timestamp >= timestamp; });
}

bool Indexes::FloorOfOffset(int64_t offset, OffsetEntry* entry) const {
  const size_t count = OffsetsUpTo(offset);
  if (count > 0)
    *entry = offset_entry(count - 1);
  return count > 0;
}

size_t Indexes::EntriesAround(int64_t timestamp, TimeEntry entries[2]) const {
  const size_t below = TimesBelow(timestamp);
  size_t count = 0;
  if (below > 0)
    entries[count++] = time_entry(below - 1);
  if (below < times_.count())
    entries[count++] = time_entry(below);
  return count;
}

int64_t Indexes::FloorOfTimestamp(int64_t timestamp) const {
  const size_t below = TimesBelow(timestamp);
  int64_t floor = below == 0 ? base_offset_ : time_entry(below - 1).offset;
  // The next entry was made with the first offset entry after the timestamp rose: the offset entry
  // before that one still belongs to the smaller timestamp. That holds if no entry is missing in
  // between, so it is made use of only where a scan would be long.
  if (below < times_.count()) {
    const size_t count = OffsetsUpTo(time_entry(below).offset - 1);
    if (count > OffsetsUpTo(floor) + kScannedEntriesMax)
      floor = std::max(floor, offset_entry(count - 1).last_offset);
  }
  return floor;
}

size_t Indexes::TimesBelowOffset(int64_t offset) const {
  return PartitionPoint(times_.count(), [&](size_t i) { return time_entry(i).offset >= offset; });
}

bool Indexes::TimeEntryBelow(int64_t offset, TimeEntry* entry) const {
  const size_t count = TimesBelowOffset(offset);
  if (count > 0)
    *entry = time_entry(count - 1);
  return count > 0;
}

bool Indexes::OffsetsFit(uint64_t log_bytes) const {
  OffsetEntry before = {base_offset_ - 1, 0};
  for (size_t i = 0; i < offsets_.count(); i++) {
    const OffsetEntry entry = offset_entry(i);
    if (entry.last_offset <= before.last_offset || entry.position >= log_bytes)
      return false;
    if (i > 0 && entry.position <= before.position)
      return false;
    if (entry.last_offset - base_offset_ > format::kRelativeOffsetMax)
      return false;
    before = entry;
  }
  return true;
}

bool Indexes::TimesFit() const {
  TimeEntry before = {format::kNoTimestamp, base_offset_ - 1};
  for (size_t i = 0; i < times_.count(); i++) {
    const TimeEntry entry = time_entry(i);
    if (entry.timestamp <= before.timestamp || entry.offset <= before.offset)
      return false;
    if (entry.offset - base_offset_ > format::kRelativeOffsetMax)
      return false;
    before = entry;
  }
  // Both grow together: with offsets but no times, the times were lost.
  return times_.count() > 0 || offsets_.count() == 0;
}

bool Indexes::Load(uint64_t log_bytes) {
  // Nothing in a log is smaller than the least message, so no index has more entries than that.
  const uint64_t entries_max = log_bytes / format::kMessageBytesMinV0 + 1;
  // Both are loaded even if the first is unfit: each must know what its file holds.
  const bool loaded = offsets_.Load(entries_max * format::kOffsetEntryBytes).ok() &
                      times_.Load(entries_max * format::kTimeEntryBytes).ok();
  if (!loaded || !OffsetsFit(log_bytes) || !TimesFit())
    return false;
  TimeEntry last;
  SetMaxTimestamp(format::kNoTimestamp, -1);
  if (TimeEntryBelow(INT64_MAX, &last))
    SetMaxTimestamp(last.timestamp, last.offset);
  return true;
}

void Indexes::Clear() {
  offsets_.Cut(0);
  times_.Cut(0);
  SetMaxTimestamp(format::kNoTimestamp, -1);
}

void Indexes::CutFrom(int64_t offset) {
  offsets_.Cut(OffsetsUpTo(offset - 1));
  times_.Cut(TimesBelowOffset(offset));
}

Status Indexes::Create() {
  const Status status = offsets_.Create();
  return status.ok() ? times_.Create() : status;
}

void Indexes::CreateLater() {
  offsets_.Disown();
  times_.Disown();
}

void Indexes::Unload() {
  offsets_.Unload();
  times_.Unload();
}

// In this order: killed in between, a process leaves timestamps known ahead of offsets, which does
// no harm; behind, the largest one would be forgotten.
void Indexes::Write(Pending* pending) {
  pending->times_written = EntryTable::Write(pending->times);
  pending->offsets_written = EntryTable::Write(pending->offsets);
}

void Indexes::Wrote(const Pending& pending) {
  times_.Wrote(pending.times, pending.times_written);
  offsets_.Wrote(pending.offsets, pending.offsets_written);
}

void Indexes::Persist() {
  Pending pending = TakePending();
  Write(&pending);
  Wrote(pending);
}

void Indexes::Sync() const {
  offsets_.Sync();
  times_.Sync();
}

} // namespace seglog
