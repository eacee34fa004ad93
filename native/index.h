// The two sparse indexes of a segment, in memory in the form that they have on the disk, and the
// rule that fills them (Kafka's): a batch gets an offset entry when more than the interval of log
// lies between it and the batch of the entry before; with each offset entry, the largest timestamp
// so far gets a time entry if it is above the one before. See format.h for the bytes.
//
// Invariants: offsets and positions of .index rise strictly, as do timestamps and offsets of
// .timeindex. For every entry (T, O) of .timeindex no batch up to the one that holds O is above T.
//
// The files are a cache. What cannot be loaded is made anew from the log by the caller; what cannot
// be written is removed, so that nothing wrong stays behind, and no append ever fails because of
// it.
//
// Thread: none of its own; the segment guards it by its lock.
#ifndef SEGLOG_INDEX_H_
#define SEGLOG_INDEX_H_

#include "batch.h"
#include "file.h"

#include <string>
#include <vector>

namespace seglog {

// Entries of one width in disk form, and the file that they are kept in.
class EntryTable {
 public:
  EntryTable(std::string path, size_t entry_bytes)
      : path_(std::move(path)), entry_bytes_(entry_bytes) {}

  // From now on the file is called so.
  void Named(std::string path) { path_ = std::move(path); }
  // What the table holds in memory.
  size_t memory() const { return bytes_.capacity(); }
  size_t count() const { return bytes_.size() / entry_bytes_; }
  const uint8_t* at(size_t index) const { return bytes_.data() + index * entry_bytes_; }
  // Room for one more; the caller fills it.
  uint8_t* Append();

  // Makes the file, or empties one that is left over.
  Status Create();
  // Whatever the file may hold is replaced by the next Persist, which makes it where missing.
  void Disown() { cut_pending_ = true; }
  // Frees the memory; the table is then empty until it is loaded.
  void Unload();
  // kNotFound, kCorrupt (not whole entries, or more than bytes_max), kIo. Empty then.
  Status Load(uint64_t bytes_max);
  // Drops entries from memory; the file follows with the next Persist.
  void Cut(size_t count);
  // Entries that the file lacks.
  size_t pending() const { return (bytes_.size() - persisted_) / entry_bytes_; }
  // Makes the file what the memory is. On failure the file is removed and stays so.
  void Persist();
  // The same in three steps, of which the second needs no lock: what the file lacks, the writing
  // of it, and the note that it was done. One at a time, and nothing is cut meanwhile.
  struct Pending {
    std::string path; // empty where the file lacks nothing
    std::vector<uint8_t> bytes;
    size_t position;
    bool cut;
  };
  Pending TakePending() const;
  static bool Write(const Pending& pending);
  void Wrote(const Pending& pending, bool written);
  // Persist must have been called. On failure the file is removed.
  void Sync() const;

 private:
  std::string path_;
  const size_t entry_bytes_;
  std::vector<uint8_t> bytes_;
  size_t persisted_ = 0;     // bytes of the file that are as in memory
  bool cut_pending_ = false; // the file is longer than persisted_
  bool given_up_ = false;    // the file was removed
};

class Indexes {
 public:
  struct OffsetEntry {
    int64_t last_offset;
    uint64_t position;
  };
  struct TimeEntry {
    int64_t timestamp;
    int64_t offset;
  };

  // `path` is that of the segment, without an ending; `suffix` stands behind the ending.
  Indexes(const std::string& path, const std::string& suffix, int64_t base_offset,
          uint32_t interval_bytes);
  void Named(const std::string& path, const std::string& suffix);

  // Follows a batch that is in the log at `position`. REQUIRES: batches come in order.
  void Add(const BatchHeader& header, uint64_t position);
  // Gives the largest timestamp an entry at the end of the segment, if it has none yet.
  void Finish();

  // The largest timestamp in the segment and the last offset of the first batch that holds it;
  // kNoTimestamp and -1 where there is none.
  int64_t max_timestamp() const { return max_timestamp_; }
  int64_t offset_of_max_timestamp() const { return offset_of_max_timestamp_; }
  void SetMaxTimestamp(int64_t timestamp, int64_t offset);

  // The last entry whose offset is at or below `offset`; false where a scan begins at 0.
  bool FloorOfOffset(int64_t offset, OffsetEntry* entry) const;
  // The two entries that FloorOfTimestamp goes by, as far as there are any: returns their count.
  size_t EntriesAround(int64_t timestamp, TimeEntry entries[2]) const;
  // An offset below or at which no batch reaches `timestamp`, as high as the indexes know one.
  int64_t FloorOfTimestamp(int64_t timestamp) const;
  // The last time entry whose offset is below `offset`.
  bool TimeEntryBelow(int64_t offset, TimeEntry* entry) const;

  // Loads both and checks what can be checked without the log: false where either is unfit for a
  // log of `log_bytes`. The largest timestamp is then that of the last time entry.
  bool Load(uint64_t log_bytes);
  // Forgets every entry, to be filled anew.
  void Clear();
  // Forgets the entries of offsets at or above `offset`; the largest timestamp is the caller's to
  // set.
  void CutFrom(int64_t offset);

  size_t pending() const { return offsets_.pending() + times_.pending(); }
  Status Create();
  // Instead of Create: the files are made, or emptied where they are left over, by Persist.
  void CreateLater();
  // Frees the entries, to be loaded again; the largest timestamp stays known.
  void Unload();
  size_t memory() const { return offsets_.memory() + times_.memory(); }
  void Persist();
  struct Pending {
    EntryTable::Pending times, offsets;
    bool times_written = false, offsets_written = false;
  };
  Pending TakePending() const { return {times_.TakePending(), offsets_.TakePending()}; }
  static void Write(Pending* pending);
  void Wrote(const Pending& pending);
  // REQUIRES: no Persist runs meanwhile.
  void Sync() const;

 private:
  OffsetEntry offset_entry(size_t index) const;
  TimeEntry time_entry(size_t index) const;
  void AddTimeEntry();
  // How many entries have an offset at or below / a timestamp below the given one.
  size_t OffsetsUpTo(int64_t offset) const;
  size_t TimesBelow(int64_t timestamp) const;
  size_t TimesBelowOffset(int64_t offset) const;
  bool OffsetsFit(uint64_t log_bytes) const;
  bool TimesFit() const;

  const int64_t base_offset_;
  const uint32_t interval_bytes_;
  EntryTable offsets_;
  EntryTable times_;
  int64_t max_timestamp_ = format::kNoTimestamp;
  int64_t offset_of_max_timestamp_ = -1;
};

} // namespace seglog

#endif // SEGLOG_INDEX_H_
