// One segment of a log: the .log file with its two indexes, and the state that is published of it.
//
// Invariants: bytes below `size` are whole batches;
// size, next offset and largest timestamp change together, under the lock, after the bytes are in
// the page cache. Readers are bounded by `size` and never by the length of the file, which may be
// larger by what is reserved ahead or by what a failed write left.
//
// Threads: Append, Locate, LocateTimestamp, Read and Info are for the JavaScript thread and do not
// wait for a flush; Open, Flush, Truncate, Seal and Close are for the pool. Any of them may
// overlap: `mutex_` guards the state and is held for as long as an append takes; `maintenance_`
// keeps the pool's jobs apart and is taken first.
//
// After a write or a sync failed for another reason than a full disk, the segment is fenced: it can
// be read, but takes nothing until it is opened anew, since the kernel forgets failed writes.
#ifndef SEGLOG_SEGMENT_H_
#define SEGLOG_SEGMENT_H_

#include "index.h"
#include "mapping.h"
#include "recovery.h"

#include <memory>
#include <mutex>
#include <string>

namespace seglog {

class BatchScanner;

struct SegmentOptions {
  bool read_only = false;
  bool recover = false;
  bool mapped = false;
  uint64_t segment_bytes = format::kSegmentBytesMax; // 1 to kSegmentBytesMax
  uint32_t index_interval_bytes = 4096;
};

struct SegmentReport {
  ScanResult scan;
  uint64_t file_bytes = 0; // as it was found
  bool index_rebuilt = false;
};

// What was appended, or found.
struct BatchRange {
  int64_t base_offset = -1;
  int64_t last_offset = -1;
  int64_t max_timestamp = format::kNoTimestamp;
  int32_t leader_epoch = -1;
  uint64_t position = 0;
  uint64_t length = 0;
  int32_t batches = 0;
};

struct SegmentInfo {
  int64_t base_offset;
  int64_t next_offset;
  int64_t max_timestamp;
  int64_t offset_of_max_timestamp;
  uint64_t size;
  uint64_t file_bytes;
};

class Segment {
 public:
  enum class Source { kClient, kLeader };

  // Batches below this many bytes are copied into a mapping, where one is ready; others are
  // written. Copying frees the JavaScript thread at any size (a page is 0.2 us against 3 to 6), but
  // the helper pays 1.5 to 8 us to prepare the page, by machine. Together they cost less than the
  // calls only while a page takes several batches: a third of it at 1 KiB, a tie at 4 KiB.
  static constexpr size_t kCopyBelowBytes = size_t{4} << 10;

  static Status Create(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                       std::shared_ptr<Segment>* result);
  static Status Open(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                     std::shared_ptr<Segment>* result, SegmentReport* report);
  ~Segment();

  const std::shared_ptr<File>& file() const { return file_; }

  // See segmentAppend in src/native.ts. A client's batch is stamped in `bytes`; on an error `bytes`
  // and segment are as before. *record is the index of an invalid record, or -1.
  Status Append(uint8_t* bytes, size_t length, Source source, int32_t leader_epoch,
                BatchRange* appended, int32_t* record);
  Status Locate(int64_t offset, uint64_t bytes_max, int64_t limit_offset, BatchRange* found);
  Status LocateTimestamp(int64_t timestamp, BatchRange* found);
  Status Read(uint64_t position, void* target, size_t length, size_t* read);
  Status Info(SegmentInfo* info);

  Status Flush();
  Status Truncate(int64_t offset);
  // Appends get kReadOnly from now on.
  void EndAppends();
  // REQUIRES: EndAppends.
  Status Seal(bool sync);

 private:
  // What a reader works from; consistent in itself.
  struct View {
    uint64_t size;
    int64_t next_offset;
    int64_t last_batch_from; // offsets from here on are in the batch at last_batch_position
    uint64_t last_batch_position;
    uint64_t truncations;
    Code damage;
  };

  Segment(const std::string& path, int64_t base_offset, const SegmentOptions& options,
          std::shared_ptr<File> file);

  // segment_open.cc
  Status Rebuild(SegmentReport* report);
  Status OpenTrusted(SegmentReport* report);
  bool IndexesFit(uint64_t file_bytes, Indexes::OffsetEntry* last);
  Status Settle(const SegmentReport& report);

  // segment.cc
  Status Admit(const uint8_t* bytes, size_t length, Source source, BatchRange* range,
               int32_t* record) const;
  Status AdmitLeader(const uint8_t* bytes, size_t length, BatchRange* range) const;
  Status Fits(const BatchRange& range) const;
  Status Put(const uint8_t* bytes, size_t length);
  void Publish(const uint8_t* bytes, const BatchRange& range);
  Status FindCut(const View& view, int64_t offset, uint64_t* cut, int64_t* next);
  Status MaxBelow(uint64_t cut, int64_t cut_offset, Indexes::TimeEntry* max);

  // segment_read.cc
  View Snapshot();
  bool TruncatedSince(const View& view);
  // Goes to the last indexed batch that lies wholly at or below `offset`, or to the first one.
  Status ScanFrom(int64_t offset, BatchScanner* scanner);
  // Goes to the batch that holds `offset` or to the first above it; kNotFound where none does.
  Status Find(int64_t offset, const View& view, BatchScanner* scanner);
  Status LocateIn(const View& view, int64_t offset, uint64_t bytes_max, int64_t limit_offset,
                  BatchRange* found);
  Status LocateTimestampIn(const View& view, int64_t timestamp, BatchRange* found);
  Status LimitPosition(const View& view, int64_t limit_offset, BatchScanner* scanner,
                       uint64_t* position);

  const std::string path_;
  const int64_t base_offset_;
  const SegmentOptions options_;
  const std::shared_ptr<File> file_;

  std::mutex maintenance_;
  std::mutex mutex_;
  Indexes indexes_;
  Windows windows_;
  uint64_t size_ = 0;
  int64_t next_offset_;
  int64_t last_batch_from_;
  uint64_t last_batch_position_ = 0;
  uint64_t truncations_ = 0;
  bool sealed_ = false;
  bool fenced_ = false;
  // What stands behind size_ and was kept at opening: neither appended to nor trimmed.
  Code damage_ = Code::kOk;
};

} // namespace seglog

#endif // SEGLOG_SEGMENT_H_
