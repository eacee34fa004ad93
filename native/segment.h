// One segment of a log: the .log file with its two indexes, and the state that is published of it.
//
// Invariants: bytes below `size` are whole batches, or damage that was there when it was opened;
// size, next offset and largest timestamp change together, under the lock, after the bytes are in
// the page cache. Readers are bounded by `size` and never by the length of the file, which may be
// larger by what is reserved ahead or by what a failed write left.
//
// A segment is active, with its file open and its indexes in memory, or at rest: sealed, with both
// had from the disk when they are needed and let go of again (resident.h). A truncation makes it
// active again.
//
// Threads: Append, Locate, LocateTimestamp, Read, Info, Moved and PrepareSpare are for the
// JavaScript thread and do not wait for a flush; the rest is for the pool. Any of them may
// overlap: `mutex_` guards the state and is held for as long as an append takes, or the loading
// of a segment at rest; `maintenance_` keeps the pool's jobs apart and is taken first.
//
// After a write or a sync failed for another reason than a full disk, the segment is fenced: it can
// be read, but takes nothing until it is opened anew, since the kernel forgets failed writes.
#ifndef SEGLOG_SEGMENT_H_
#define SEGLOG_SEGMENT_H_

#include "index.h"
#include "mapping.h"
#include "recovery.h"
#include "resident.h"
#include "spare.h"

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
  int64_t trusted_next_offset = -1; // -1: not given, as in src/native.ts
  int64_t recover_from = -1;        // -1: the base offset
  std::string suffix;
};

struct SegmentReport {
  ScanResult scan;
  uint64_t file_bytes = 0; // as it was found
  bool index_rebuilt = false;
};

// Largest timestamp of a segment that was not looked at yet.
constexpr int64_t kUnknownTimestamp = -2;

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

class Segment : public Resident, public std::enable_shared_from_this<Segment> {
 public:
  // kEncoder: from the encoder of this process, whose batches need no check and have no sum yet.
  enum class Source { kClient, kLeader, kEncoder };

  static Status Create(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                       std::shared_ptr<Segment>* result);
  static Status Open(const std::string& path, int64_t base_offset, const SegmentOptions& options,
                     std::shared_ptr<Segment>* result, SegmentReport* report);
  ~Segment() override;

  // See segmentAppend in src/native.ts. A client's batch is stamped in `bytes`; on an error `bytes`
  // and segment are as before. *record is the index of an invalid record, or -1.
  Status Append(uint8_t* bytes, size_t length, Source source, int32_t leader_epoch,
                BatchRange* appended, int32_t* record);
  Status Locate(int64_t offset, uint64_t bytes_max, int64_t limit_offset, BatchRange* found);
  Status LocateTimestamp(int64_t timestamp, BatchRange* found);
  Status Read(uint64_t position, void* target, size_t length, size_t* read);
  // Finds out the largest timestamp, where that is not known, by loading the indexes.
  Status Info(SegmentInfo* info);
  // What is known without a look at any file; not the size of the file.
  void State(SegmentInfo* info);
  // The .log, opened where it is not.
  Status UseFile(std::shared_ptr<File>* file);

  Status Flush();
  Status Truncate(int64_t offset);
  // Appends get kReadOnly from now on.
  void EndAppends();
  // Does nothing where a truncation came between. REQUIRES: EndAppends.
  Status Seal(bool sync);
  Status LoadIndexes();

  Status Rename(const std::string& suffix);
  void Moved(const std::string& path);
  // REQUIRES: EndAppends.
  Status Delete();
  void PrepareSpare();

  void Leave() override;

 private:
  // What a reader works from; consistent in itself.
  struct View {
    std::shared_ptr<File> file;
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
  static Status OpenTrusted(const std::string& path, int64_t base_offset,
                            const SegmentOptions& options, std::shared_ptr<Segment>* result,
                            SegmentReport* report);
  Status Recover(SegmentReport* report);
  Status OpenFromIndexes(SegmentReport* report);
  Status ScanAll(SegmentReport* report);
  bool IndexesFit(uint64_t file_bytes, Indexes::OffsetEntry* last);
  Status Settle(const SegmentReport& report);

  // segment.cc
  Status Admit(const uint8_t* bytes, size_t length, Source source, BatchRange* range,
               int32_t* record) const;
  Status AdmitLeader(const uint8_t* bytes, size_t length, BatchRange* range) const;
  Status Fits(const BatchRange& range) const;
  Status Put(const uint8_t* bytes, size_t length);
  void Publish(const uint8_t* bytes, const BatchRange& range);
  Status Trim(std::shared_ptr<File>* file);
  // Writes to the files of the indexes what they lack, and holds up no append for it.
  void PersistIndexes();
  void AskToPersist();

  // segment_cut.cc
  Status FindCut(const View& view, int64_t offset, uint64_t* cut, int64_t* next);
  Status MaxBelow(const View& view, uint64_t cut, int64_t cut_offset, Indexes::TimeEntry* max);
  Status Cut(uint64_t cut, int64_t next, const Indexes::TimeEntry& max);
  Status Activate();

  // segment_rest.cc
  std::string PathOf(const char* ending) const { return path_ + ending + options_.suffix; }
  // REQUIRES: the lock, for these six.
  void AskForSpare();
  Status Load(bool with_indexes);
  Status LoadIndexFiles();
  Status RebuildIndexes();
  Status FillIndexes(const ScanScope& scope);
  size_t memory() const { return sizeof(Segment) + indexes_.memory(); }

  // segment_read.cc. A view of a segment at rest has its file open, and its indexes where asked.
  Status Snapshot(bool with_indexes, View* view);
  bool TruncatedSince(const View& view);
  Status LocateIn(const View& view, int64_t offset, uint64_t bytes_max, int64_t limit_offset,
                  BatchRange* found);
  Status LocateTimestampIn(const View& view, int64_t timestamp, BatchRange* found);

  // segment_find.cc
  // Goes to the last indexed batch that lies wholly at or below `offset`, or to the first one.
  Status ScanFrom(int64_t offset, BatchScanner* scanner, bool locked = false);
  Status Begin(int64_t offset, const View& view, BatchScanner* scanner);
  // Goes by headers alone to the batch that holds `offset` or to the first above it; kNotFound
  // where none does.
  Status Walk(int64_t offset, const View& view, BatchScanner* scanner);
  // As Walk, but what it answers with is right: kCorrupt where the offset is in what is damaged.
  Status Find(int64_t offset, const View& view, BatchScanner* scanner);
  // Checks what looks odd about the current batch: kCorrupt where its sum is wrong, *offsets_wrong
  // where only its offsets are. `reached`: it is what Find would answer with.
  static Status Believe(const View& view, bool reached, BatchScanner* scanner, bool* offsets_wrong);
  static Status PassOver(bool offsets_wrong, BatchScanner* scanner);
  // Whether the time entries that a lookup goes by name batches with these timestamps.
  Status TimesHold(const View& view, int64_t timestamp, bool* hold);
  Status FindTimestamp(int64_t timestamp, int64_t floor, BatchScanner* scanner);
  // Where the batch of `limit_offset` begins, or damage does; at or behind the end of `first`, the
  // batch at `position`, unless that holds the limit or is above it.
  Status LimitPosition(const View& view, int64_t limit_offset, const BatchHeader& first,
                       uint64_t position, uint64_t* end);

  // One interval of the index, as configured by default: most lookups need one read.
  static constexpr size_t kLookupBufferBytes = 4096;

  const int64_t base_offset_;

  // Taken in this order.
  std::mutex maintenance_;
  std::mutex persisting_; // the files of the indexes of an active segment
  std::mutex mutex_;
  std::string path_;
  SegmentOptions options_;           // the suffix may change
  std::shared_ptr<File> file_;       // null only at rest
  std::unique_ptr<Windows> windows_; // changed under both locks; null where sealed
  std::shared_ptr<Spare> spare_;     // for the next segment
  Indexes indexes_;
  bool at_rest_ = false;
  bool indexes_loaded_ = true;
  bool timestamps_known_ = true;
  bool synced_ = false; // since it was sealed
  bool deleted_ = false;
  bool persist_asked_ = false; // of the helper
  uint64_t spare_at_;          // asked for when the log is that long
  uint64_t size_ = 0;
  int64_t next_offset_;
  int64_t last_batch_from_;
  uint64_t last_batch_position_ = 0;
  uint64_t truncations_ = 0;
  bool sealed_ = false;
  bool fenced_ = false;
  // The end of the log was lost below the recovery point: the next batch needs a segment of its
  // own.
  bool full_ = false;
  // What stands behind size_ and was kept at opening: neither appended to nor trimmed.
  Code damage_ = Code::kOk;
};

} // namespace seglog

#endif // SEGLOG_SEGMENT_H_
