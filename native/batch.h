// A record batch in memory: its header, what makes it acceptable, and the stamps of a leader. A
// stored message of magic 0 or 1 is read as a batch of one record at its offset, whatever it wraps;
// new ones are not accepted. Pure functions over borrowed bytes; nothing is allocated; any thread.
//
// Base offset and leader epoch lie outside the CRC, so that a leader may set them without touching
// the rest. From a client the records of an uncompressed batch are walked; of a compressed one only
// the header is checked here, its records are for the layer that can inflate them.
#ifndef SEGLOG_BATCH_H_
#define SEGLOG_BATCH_H_

#include "format.h"
#include "status.h"

namespace seglog {

struct BatchHeader {
  int64_t base_offset;
  int32_t batch_length;
  int32_t leader_epoch;
  int8_t magic;
  uint32_t crc;
  int16_t attributes;
  int32_t last_offset_delta;
  int64_t max_timestamp;
  int64_t producer_id;
  int32_t base_sequence;
  int32_t records_count;

  // Bytes of the batch, header included. REQUIRES: CheckStoredHeader was content.
  uint64_t size() const { return format::kOverheadBytes + static_cast<uint64_t>(batch_length); }
  int64_t last_offset() const { return base_offset + last_offset_delta; }
};

inline bool IsOldMagic(int8_t magic) {
  return magic >= 0 && magic <= format::kMagicV1;
}

// What ReadHeader needs for this magic: of a message of magic 0 or 1 its least size.
size_t HeaderBytesOf(int8_t magic);

// REQUIRES: HeaderBytesOf the magic in them, readable bytes.
BatchHeader ReadHeader(const uint8_t* bytes);

// What any batch in a log must satisfy by its header alone: magic, least length, sane deltas, an
// offset in range. kBadMagic, kCorrupt or kOffsetTooLarge.
Status CheckStoredHeader(const BatchHeader& header);

// REQUIRES: header.size() readable bytes.
bool CrcMatches(const uint8_t* bytes, const BatchHeader& header);

// Exactly one batch as a client may send it. kCorrupt for length and CRC, kBadMagic, kInvalidRecord
// for what a right CRC does not excuse; then *record is the index of the bad record, or -1 for the
// header. Changes nothing.
Status CheckClientBatch(const uint8_t* bytes, size_t length, BatchHeader* header, int32_t* record);

// As CheckClientBatch for a batch from the encoder of this process: its records are not walked and
// its CRC, which is still to be computed, is not compared.
Status CheckEncodedBatch(const uint8_t* bytes, size_t length, BatchHeader* header);

// Writes the CRC of a batch of `length` bytes.
void SumBatch(uint8_t* bytes, size_t length);

// REQUIRES: CheckClientBatch was content.
void StampBatch(uint8_t* bytes, int64_t base_offset, int32_t leader_epoch);

} // namespace seglog

#endif // SEGLOG_BATCH_H_
