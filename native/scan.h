// Walks the batches of a .log file, and the messages of magic 0 and 1 that an older one holds, by
// reads into one buffer of fixed size, whatever the lengths in the headers say. Used by lookups (a
// few KiB on the stack, headers only) and by recovery (1 MiB, with CRC). Never reads at or above
// `end`, changes nothing.
//
// Thread: any, one at a time. Blocks where the pages are cold.
#ifndef SEGLOG_SCAN_H_
#define SEGLOG_SCAN_H_

#include "batch.h"
#include "file.h"

namespace seglog {

class BatchScanner {
 public:
  // Borrows the file and the buffer. `offset_min`: no batch may begin below it.
  // REQUIRES: from <= end, buffer_bytes >= kHeaderBytes.
  BatchScanner(const File& file, uint64_t from, uint64_t end, int64_t base_offset,
               int64_t offset_min, uint8_t* buffer, size_t buffer_bytes);

  // Goes on at another place, with the same buffer. REQUIRES: from <= end.
  void Restart(uint64_t from, int64_t offset_min);

  // Goes to the next batch. Ok: header() and position() are its own. kNotFound: the end was reached
  // exactly. kShort: the end falls inside the batch. kBadMagic, kCorrupt, kOffsetTooLarge, kIo: the
  // bytes at position() are no batch that may stand here.
  Status Next();

  // CRC of the batch that Next went to: kCorrupt where it does not match.
  Status CheckSum();

  // The CRC of the current batch is wrong, so its length is not to be believed either: goes to the
  // batch behind it where that follows by its offset, else as Resync.
  Status PassOver(uint64_t bytes_max = UINT64_MAX);
  // The offsets of the current batch are not to be believed, its length is: Next goes on behind it
  // as if it had not been there.
  void Disregard() { offset_min_ = expected_; }
  // Behind bytes that are no batch: goes to the next place, at most bytes_max away, where a batch
  // of magic 2 with a right CRC and with offsets that may stand there begins. kNotFound: there is
  // none, or too many that only look like one.
  Status Resync(uint64_t bytes_max = UINT64_MAX);
  // Whether the batch behind the current one, which is none the worse otherwise, begins at or
  // below the last offset of the current one: one of the two has a wrong offset.
  Status Overtaken(bool* overtaken);

  const BatchHeader& header() const { return header_; }
  // The least offset that the current batch could have had: one above the last of the one before.
  int64_t expected() const { return expected_; }
  // The current batch is known to be right: an index names it.
  void Confirm() { expected_ = header_.base_offset; }
  // Where the current batch begins; after a failed Next, where the scan stopped.
  uint64_t position() const { return position_; }
  uint64_t end() const { return end_; }

  // Whether [from, end) holds zeros alone: a reserved tail, and no damage.
  Status OnlyZeros(uint64_t from, bool* zeros);
  // Whether a whole message of magic 0 or 1 with a right CRC stands at position().
  Status OldMessage(bool* found);

 private:
  // Makes the header at `position` readable at *bytes. kShort beyond the end.
  Status FillHeader(uint64_t position, const uint8_t** bytes);
  // Makes [position, position + length) readable at *bytes. kShort beyond the end.
  Status Fill(uint64_t position, size_t length, const uint8_t** bytes);
  // Sums [from, from + length), by chunks.
  Status Sum(uint64_t from, uint64_t length, bool castagnoli, uint32_t* sum);

  const File& file_;
  const uint64_t end_;
  const int64_t base_offset_;
  int64_t offset_min_;
  int64_t expected_;
  uint8_t* const buffer_;
  const size_t buffer_bytes_;
  uint64_t buffer_from_ = 0; // what of the file the buffer holds
  size_t buffer_filled_ = 0;
  uint64_t position_;
  uint64_t next_position_;
  BatchHeader header_ = {};
};

} // namespace seglog

#endif // SEGLOG_SCAN_H_
