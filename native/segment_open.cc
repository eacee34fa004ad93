// Opens the files of a segment and brings them to a state that can be appended to: see segment.h.
//
// With `recover` every batch is checked and the indexes are made anew, from the recovery point on
// where the indexes below it fit. Without it the file is trusted up to its end, which only the
// headers behind the last index entry are read for; indexes that are missing or do not fit are made
// from the headers. Either way a reserved tail of zeros is cut. Damage is cut only with `recover`,
// and only where it can be a torn tail: at or above the recovery point. Whole messages of an older
// format, or offsets and positions beyond what this engine counts, stay as they are, and the
// segment then takes no appends.
//
// A segment with a trusted next offset is not even opened, only measured: see segment_rest.cc.
#include "scan.h"
#include "segment.h"

#include <algorithm>
#include <cerrno>

namespace seglog {

namespace {

// Of log that is looked at to see whether a time index is whole: milliseconds, and with timestamps
// that rise no more than an interval or two.
constexpr uint64_t kTimesCheckBytesMax = uint64_t{16} << 20;

} // namespace

Status Segment::Open(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                     std::shared_ptr<Segment>* result, SegmentReport* report) {
  if (options.trusted_next_offset >= 0)
    return OpenTrusted(path, base_offset, options, result, report);
  const auto mode = options.read_only ? File::Mode::kReadOnly : File::Mode::kReadWrite;
  const std::string name = path + ".log" + options.suffix;
  std::shared_ptr<File> file;
  Status status = File::Open(name, mode, &file);
  if (status.error == EMFILE || status.error == ENFILE) {
    Residents::LeaveAllBut(nullptr);
    status = File::Open(name, mode, &file);
  }
  if (status.ok())
    status = file->Size(&report->file_bytes);
  if (!status.ok())
    return status;
  std::shared_ptr<Segment> segment(new Segment(path, base_offset, options, std::move(file)));
  status = options.recover ? segment->Recover(report) : segment->OpenFromIndexes(report);
  if (status.ok())
    status = segment->Settle(*report);
  if (!status.ok())
    return status;
  if (options.read_only)
    Residents::Use(segment, segment->memory());
  *result = std::move(segment);
  return status;
}

Status Segment::OpenTrusted(const std::string& path, int64_t base_offset,
                            const SegmentOptions& options, std::shared_ptr<Segment>* result,
                            SegmentReport* report) {
  if (options.trusted_next_offset < base_offset)
    return Status::Of(Code::kBadArgument);
  const Status status = File::SizeOf(path + ".log" + options.suffix, &report->file_bytes);
  if (!status.ok())
    return status;
  std::shared_ptr<Segment> segment(new Segment(path, base_offset, options, nullptr));
  segment->at_rest_ = segment->sealed_ = segment->synced_ = true;
  segment->indexes_loaded_ = segment->timestamps_known_ = false;
  segment->size_ = segment->last_batch_position_ = report->file_bytes;
  segment->next_offset_ = segment->last_batch_from_ = options.trusted_next_offset;
  report->scan.valid_end = report->file_bytes;
  report->scan.next_offset = options.trusted_next_offset;
  *result = std::move(segment);
  return status;
}

// Scans all of the log into empty indexes.
Status Segment::ScanAll(SegmentReport* report) {
  report->index_rebuilt = true;
  report->scan = {};
  indexes_.Clear();
  // Where this fails, so will the writing of entries, and nothing depends on it.
  if (!options_.read_only)
    (void)indexes_.Create();
  const int64_t keep_below = options_.recover ? options_.recover_from : 0;
  const ScanScope scope = {0,          report->file_bytes, base_offset_, base_offset_,
                           keep_below, options_.recover};
  return ScanLog(*file_, scope, &indexes_, &report->scan);
}

Status Segment::Recover(SegmentReport* report) {
  const int64_t from = options_.recover_from;
  if (from <= base_offset_ || !indexes_.Load(report->file_bytes))
    return ScanAll(report);
  // The entry itself stays: its batch is scanned, but does not get a second one.
  // A time index that lost its end must not hide the largest timestamp: behind its last entry
  // everything is scanned.
  Indexes::OffsetEntry start = {base_offset_, 0};
  Indexes::TimeEntry time = {format::kNoTimestamp, base_offset_ - 1};
  (void)indexes_.TimeEntryBelow(from, &time);
  const bool indexed = indexes_.FloorOfOffset(std::min(from, time.offset), &start);
  indexes_.CutFrom(start.last_offset + 1);
  time = {format::kNoTimestamp, -1};
  (void)indexes_.TimeEntryBelow(INT64_MAX, &time);
  indexes_.SetMaxTimestamp(time.timestamp, time.offset);
  if (!indexed || !IndexesFit(report->file_bytes, &start))
    return ScanAll(report);
  const ScanScope scope = {
      start.position, report->file_bytes, base_offset_, base_offset_, from, true};
  return ScanLog(*file_, scope, &indexes_, &report->scan);
}

// Whether the last entry of each index names a batch that is there.
bool Segment::IndexesFit(uint64_t file_bytes, Indexes::OffsetEntry* last) {
  uint8_t buffer[kLookupBufferBytes];
  BatchScanner scanner(*file_, 0, file_bytes, base_offset_, base_offset_, buffer, sizeof buffer);
  Indexes::TimeEntry time;
  if (indexes_.FloorOfOffset(INT64_MAX, last)) {
    scanner.Restart(last->position, base_offset_);
    if (!scanner.Next().ok() || scanner.header().last_offset() != last->last_offset)
      return false;
  }
  if (!indexes_.TimeEntryBelow(INT64_MAX, &time))
    return true;
  Status status = ScanFrom(time.offset, &scanner, true);
  while (status.ok() && scanner.header().last_offset() < time.offset)
    status = scanner.Next();
  // Older versions of Kafka name a record within the batch, newer ones the last of the batch.
  if (!status.ok() || scanner.header().base_offset > time.offset ||
      scanner.header().max_timestamp != time.timestamp)
    return false;
  // Up to the last offset entry no timestamp is above the last time entry, unless more were lost.
  const uint64_t from = scanner.position();
  while (status.ok() && scanner.position() < last->position &&
         scanner.position() - from < kTimesCheckBytesMax) {
    status = scanner.Next();
    if (status.ok() && scanner.header().max_timestamp > time.timestamp)
      return false;
  }
  return true;
}

Status Segment::OpenFromIndexes(SegmentReport* report) {
  Indexes::OffsetEntry last = {base_offset_, 0};
  if (!indexes_.Load(report->file_bytes) || !IndexesFit(report->file_bytes, &last))
    return ScanAll(report);
  const size_t pending = indexes_.pending();
  const ScanScope scope = {last.position, report->file_bytes, base_offset_, base_offset_, 0, false};
  const Status status = ScanLog(*file_, scope, &indexes_, &report->scan);
  // Entries that were missing at the end were found on the way.
  report->index_rebuilt = indexes_.pending() > pending;
  return status;
}

Status Segment::Settle(const SegmentReport& report) {
  const ScanResult& scan = report.scan;
  size_ = last_batch_position_ = scan.valid_end;
  next_offset_ = last_batch_from_ = scan.next_offset;
  if (scan.end_lost) {
    // What is behind the last batch stays, as an error for who asks for it.
    size_ = last_batch_position_ = report.file_bytes;
    next_offset_ = last_batch_from_ = std::max(scan.next_offset, options_.recover_from);
    full_ = true;
  }
  const bool kept = scan.old_format || scan.end_code == Code::kTooLarge ||
                    scan.end_code == Code::kOffsetTooLarge || !options_.recover;
  if (scan.end_code != Code::kOk && (kept || options_.read_only))
    damage_ = scan.end_code;
  if (options_.read_only) {
    at_rest_ = sealed_ = synced_ = true;
    return Status::Ok();
  }
  if (damage_ != Code::kOk)
    return Status::Ok();
  Status status;
  if (report.file_bytes > size_)
    status = file_->Truncate(size_);
  indexes_.Persist();
  return status;
}

} // namespace seglog
