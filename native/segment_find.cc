// Finds the batch of an offset or a timestamp: see segment.h. An answer is what a scan of the whole
// log would say: an index entry is believed only after the batch that it names was seen, else the
// entry before it is tried.
//
// Damage is never silence. Offsets and lengths lie outside the sum of a batch or can be read only
// through it, so a walk by headers alone may be led astray: past the batch that is asked for, or to
// one that claims its offset. Whatever looks as if, is summed: batches that are small, whose
// offsets have gaps inside or before them, or that are behind what was damaged. Behind damage the
// walk goes on at the next batch with a right sum, so that only the offsets that are really lost
// are an error.
#include "scan.h"
#include "segment.h"

#include <algorithm>

namespace seglog {

namespace {

// Entries that may turn out wrong before a lookup begins at the start of the log.
constexpr int kWrongEntriesMax = 8;

// Batches up to this size are summed whenever a lookup answers with them: a few microseconds.
constexpr uint64_t kAlwaysSumBytes = uint64_t{16} << 10;

constexpr uint64_t kNone = UINT64_MAX; // no position

// A lookup runs on the JavaScript thread; a search of this many bytes takes some milliseconds.
constexpr uint64_t kResyncBytesMax = uint64_t{4} << 20;

bool IsDamage(Status status) {
  return !status.ok() && status.error == 0 && status.code != Code::kNotFound;
}

// A batch as a client makes it has a record for each offset; a compacted one may have fewer.
bool IsDense(const BatchHeader& header) {
  return header.last_offset_delta == header.records_count - 1;
}

// Whether the sum of the batch at `position` is right; leaves the scanner where it was.
Status CheckSumAt(uint64_t position, int64_t offset_min, BatchScanner* scanner) {
  const uint64_t back = scanner->position();
  const int64_t back_min = scanner->header().base_offset;
  scanner->Restart(position, offset_min);
  Status status = scanner->Next();
  if (status.ok())
    status = scanner->CheckSum();
  scanner->Restart(back, back_min);
  const Status returned = scanner->Next();
  return status.ok() ? returned : status;
}

} // namespace

Status Segment::ScanFrom(int64_t offset, BatchScanner* scanner, bool locked) {
  for (int attempt = 0; attempt < kWrongEntriesMax; attempt++) {
    Indexes::OffsetEntry entry;
    {
      std::unique_lock<std::mutex> lock(mutex_, std::defer_lock);
      if (!locked)
        lock.lock();
      if (!indexes_.FloorOfOffset(offset, &entry))
        break;
    }
    if (scanner->end() <= entry.position)
      break;
    scanner->Restart(entry.position, base_offset_);
    const Status status = scanner->Next();
    if (status.ok() && scanner->header().last_offset() == entry.last_offset) {
      scanner->Confirm();
      return status;
    }
    offset = entry.last_offset - 1;
  }
  scanner->Restart(0, base_offset_);
  return scanner->Next();
}

Status Segment::Begin(int64_t offset, const View& view, BatchScanner* scanner) {
  if (offset < view.last_batch_from)
    return ScanFrom(offset, scanner);
  scanner->Restart(view.last_batch_position, view.last_batch_from);
  return scanner->Next();
}

Status Segment::Walk(int64_t offset, const View& view, BatchScanner* scanner) {
  Status status = Begin(offset, view, scanner);
  while (status.ok() && scanner->header().last_offset() < offset)
    status = scanner->Next();
  return status;
}

Status Segment::Believe(const View& view, bool reached, BatchScanner* scanner,
                        bool* offsets_wrong) {
  const BatchHeader header = scanner->header();
  const bool gap = header.base_offset > scanner->expected();
  const bool odd = gap || !IsDense(header);
  bool overtaken = false;
  *offsets_wrong = header.last_offset() >= view.next_offset;
  Status status;
  if (odd && !*offsets_wrong)
    status = scanner->Overtaken(&overtaken);
  const bool sum = reached ? odd || header.size() <= kAlwaysSumBytes : overtaken;
  if (status.ok() && (sum || *offsets_wrong))
    status = scanner->CheckSum();
  // With a right sum and no gap before it, it is the next one that has a wrong offset.
  *offsets_wrong |= overtaken && gap;
  return status;
}

// Of the batch at `before`, where there is one.
static bool SumIsRight(uint64_t before, int64_t before_min, BatchScanner* scanner) {
  if (before == kNone)
    return true;
  scanner->Restart(before, before_min);
  Status status = scanner->Next();
  if (status.ok())
    status = scanner->CheckSum();
  return !IsDamage(status);
}

// Behind damage at which Next stopped: goes to the next batch. What looks like damage may be the
// inside of a batch, where the length of the one before it is wrong.
static Status GoOn(uint64_t before, int64_t before_min, BatchScanner* scanner) {
  if (before != kNone) {
    scanner->Restart(before, before_min);
    Status status = scanner->Next();
    if (status.ok())
      status = scanner->CheckSum();
    if (IsDamage(status))
      return scanner->PassOver(kResyncBytesMax);
    if (status.ok())
      status = scanner->Next(); // to where it stopped
    if (!IsDamage(status))
      return status;
  }
  return scanner->Resync(kResyncBytesMax);
}

// Leaves a batch that is not to be believed. kNotFound: nothing follows it.
Status Segment::PassOver(bool offsets_wrong, BatchScanner* scanner) {
  if (!offsets_wrong)
    return scanner->PassOver(kResyncBytesMax);
  scanner->Disregard();
  return scanner->Next();
}

Status Segment::Find(int64_t offset, const View& view, BatchScanner* scanner) {
  bool damaged = false; // before the batch that was reached
  uint64_t before = kNone;
  int64_t before_min = base_offset_;
  Status status = Begin(offset, view, scanner);
  for (;;) {
    if (IsDamage(status)) {
      damaged = true;
      status = GoOn(before, before_min, scanner);
      before = kNone;
    }
    if (status.code == Code::kNotFound) // unless the last one lost its end
      return damaged || !SumIsRight(before, before_min, scanner) ? Status::Of(Code::kCorrupt)
                                                                 : status;
    if (!status.ok())
      return status;
    const bool reached = scanner->header().last_offset() >= offset;
    bool offsets_wrong;
    status = Believe(view, reached, scanner, &offsets_wrong);
    if (!status.ok() && !IsDamage(status))
      return status;
    if (!status.ok() || offsets_wrong) {
      damaged = true;
      status = PassOver(status.ok(), scanner);
      continue;
    }
    if (reached)
      break;
    before = scanner->position();
    before_min = scanner->expected();
    status = scanner->Next();
  }
  if (scanner->header().base_offset <= offset)
    return Status::Ok();
  if (damaged)
    return Status::Of(Code::kCorrupt);
  // No batch has this offset, unless the one before lost its end.
  if (before != kNone)
    status = CheckSumAt(before, before_min, scanner);
  return IsDamage(status) ? Status::Of(Code::kCorrupt) : status;
}

Status Segment::TimesHold(const View& view, int64_t timestamp, bool* hold) {
  Indexes::TimeEntry entries[2];
  size_t count;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    count = indexes_.EntriesAround(timestamp, entries);
  }
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*view.file, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  *hold = true;
  for (size_t i = 0; i < count && *hold; i++) {
    Status status = ScanFrom(entries[i].offset, &scanner);
    while (status.ok() && scanner.header().last_offset() < entries[i].offset)
      status = scanner.Next();
    if (status.error != 0)
      return status;
    // Damage in the log says nothing about the index; it is the lookup's to find.
    *hold = IsDamage(status) || (status.ok() && scanner.header().base_offset <= entries[i].offset &&
                                 scanner.header().max_timestamp == entries[i].timestamp);
  }
  return Status::Ok();
}

Status Segment::FindTimestamp(int64_t timestamp, int64_t floor, BatchScanner* scanner) {
  Status status = ScanFrom(floor, scanner);
  for (; status.ok(); status = scanner->Next()) {
    // One that is passed over is summed too: a timestamp that lost a bit must not hide a record.
    status = scanner->CheckSum();
    if (!status.ok() || scanner->header().max_timestamp >= timestamp)
      break;
  }
  return IsDamage(status) ? Status::Of(Code::kCorrupt) : status;
}

Status Segment::LimitPosition(const View& view, int64_t limit_offset, const BatchHeader& first,
                              uint64_t position, uint64_t* end) {
  *end = view.size;
  if (limit_offset >= view.next_offset)
    return Status::Ok();
  *end = position;
  if (first.last_offset() >= limit_offset)
    return Status::Ok();
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*view.file, 0, view.size, base_offset_, base_offset_, buffer, sizeof buffer);
  Status status = Walk(limit_offset, view, &scanner);
  if (status.error == 0 && scanner.position() < position + first.size()) {
    // Damage before the first batch, which was found all the same, led the walk astray.
    scanner.Restart(position, first.base_offset);
    do {
      status = scanner.Next();
    } while (status.ok() && scanner.header().last_offset() < limit_offset);
  }
  if (status.error != 0)
    return status;
  // Before damage too there is something to give out.
  *end = scanner.position();
  return Status::Ok();
}

} // namespace seglog
