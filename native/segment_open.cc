// Opens the files of a segment and brings them to a state that can be appended to: see segment.h.
//
// With `recover` every batch is checked and the indexes are made anew. Without it the file is
// trusted up to its end, which only the headers behind the last index entry are read for; indexes
// that are missing or do not fit are made from the headers. Either way a reserved tail of zeros is
// cut. Damage is cut only with `recover`, and only where it can be a torn tail: whole messages of
// an older format, or offsets and positions beyond what this engine counts, stay as they are, and
// the segment then takes no appends.
//
// Indexes are loaded here, in the pool, and kept in memory, so that no lookup on the JavaScript
// thread waits for a cold index. A log that seldom reads old segments opens them seldom.
#include "scan.h"
#include "segment.h"

namespace seglog {

Status Segment::Open(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                     std::shared_ptr<Segment>* result, SegmentReport* report) {
  const auto mode = options.read_only ? File::Mode::kReadOnly : File::Mode::kReadWrite;
  std::shared_ptr<File> file;
  Status status = File::Open(path + ".log", mode, &file);
  if (status.ok())
    status = file->Size(&report->file_bytes);
  if (!status.ok())
    return status;
  std::shared_ptr<Segment> segment(new Segment(path, base_offset, options, std::move(file)));
  status = options.recover ? segment->Rebuild(report) : segment->OpenTrusted(report);
  if (status.ok())
    status = segment->Settle(*report);
  if (status.ok())
    *result = std::move(segment);
  return status;
}

// Scans all of the log into empty indexes.
Status Segment::Rebuild(SegmentReport* report) {
  report->index_rebuilt = true;
  report->scan = {};
  indexes_.Clear();
  // Where this fails, so will the writing of entries, and nothing depends on it.
  if (!options_.read_only)
    (void)indexes_.Create();
  return ScanLog(*file_, 0, report->file_bytes, base_offset_, base_offset_, options_.recover,
                 &indexes_, &report->scan);
}

// Whether the last entry of each index names a batch that is there.
bool Segment::IndexesFit(uint64_t file_bytes, Indexes::OffsetEntry* last) {
  uint8_t buffer[format::kHeaderBytes];
  BatchScanner scanner(*file_, 0, file_bytes, base_offset_, base_offset_, buffer, sizeof buffer);
  Indexes::TimeEntry time;
  if (indexes_.FloorOfOffset(INT64_MAX, last)) {
    scanner.Restart(last->position, base_offset_);
    if (!scanner.Next().ok() || scanner.header().last_offset() != last->last_offset)
      return false;
  }
  if (!indexes_.TimeEntryBelow(INT64_MAX, &time))
    return true;
  Status status = ScanFrom(time.offset, &scanner);
  while (status.ok() && scanner.header().last_offset() < time.offset)
    status = scanner.Next();
  // Older versions of Kafka name a record within the batch, newer ones the last of the batch.
  return status.ok() && scanner.header().base_offset <= time.offset &&
         scanner.header().max_timestamp == time.timestamp;
}

Status Segment::OpenTrusted(SegmentReport* report) {
  Indexes::OffsetEntry last = {base_offset_, 0};
  if (!indexes_.Load(report->file_bytes) || !IndexesFit(report->file_bytes, &last)) {
    return Rebuild(report);
  }
  const size_t pending = indexes_.pending();
  const Status status = ScanLog(*file_, last.position, report->file_bytes, base_offset_,
                                base_offset_, false, &indexes_, &report->scan);
  // Entries that were missing at the end were found on the way.
  report->index_rebuilt = indexes_.pending() > pending;
  return status;
}

Status Segment::Settle(const SegmentReport& report) {
  const ScanResult& scan = report.scan;
  size_ = last_batch_position_ = scan.valid_end;
  next_offset_ = last_batch_from_ = scan.next_offset;
  const bool kept = scan.old_format || scan.damage == Code::kTooLarge ||
                    scan.damage == Code::kOffsetTooLarge || !options_.recover;
  if (scan.damage != Code::kOk && (kept || options_.read_only))
    damage_ = scan.damage;
  if (options_.read_only || damage_ != Code::kOk)
    return Status::Ok();
  Status status;
  if (report.file_bytes > size_)
    status = file_->Truncate(size_);
  indexes_.Persist();
  return status;
}

} // namespace seglog
