// Checks of a record batch, and the walk over its records. See batch.h.
#include "batch.h"

#include "crc32.h"

namespace seglog {

namespace {

const Status kCorrupt = Status::Of(Code::kCorrupt);
const Status kInvalid = Status::Of(Code::kInvalidRecord);

// A cursor over the records of a batch. Each method returns false where the bytes end or break the
// form; the position is then of no meaning.
class Cursor {
 public:
  Cursor(const uint8_t* bytes, size_t length) : next_(bytes), end_(bytes + length) {}

  size_t left() const { return static_cast<size_t>(end_ - next_); }

  bool Skip(size_t length) {
    if (length > left())
      return false;
    next_ += length;
    return true;
  }

  // Zigzag varint of at most 64 bits; `bits` 32 refuses what a 32-bit reader would.
  bool Varint(int bits, int64_t* value) {
    uint64_t raw = 0;
    for (int shift = 0; shift < bits; shift += 7) {
      if (next_ == end_)
        return false;
      const uint8_t byte = *next_++;
      raw |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if (byte < 0x80) {
        if (bits == 32)
          raw &= 0xffffffff;
        *value = static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
        return true;
      }
    }
    return false;
  }

  // A length of -1 is null and has no bytes; one below that, or beyond the end, is refused.
  bool Bytes(bool nullable) {
    int64_t length;
    if (!Varint(32, &length))
      return false;
    if (length < 0)
      return nullable && length == -1;
    return Skip(static_cast<size_t>(length));
  }

  // The next `length` bytes as a cursor of their own.
  bool Slice(size_t length, Cursor* slice) {
    if (length > left())
      return false;
    *slice = Cursor(next_, length);
    next_ += length;
    return true;
  }

 private:
  const uint8_t* next_;
  const uint8_t* end_;
};

bool CheckHeaders(Cursor* body) {
  int64_t count;
  if (!body->Varint(32, &count) || count < 0)
    return false;
  // A header takes two bytes at least, so the bytes bound the count before the loop begins.
  if (static_cast<uint64_t>(count) > body->left() / 2)
    return false;
  for (; count > 0; count--) {
    if (!body->Bytes(false) || !body->Bytes(true))
      return false;
  }
  return true;
}

// Record: length, attributes i8, timestamp delta, offset delta, key, value, headers.
bool CheckRecord(Cursor* records, int32_t index) {
  int64_t length, timestamp_delta, offset_delta;
  Cursor body(nullptr, 0);
  if (!records->Varint(32, &length) || length < 0)
    return false;
  if (!records->Slice(static_cast<size_t>(length), &body))
    return false;
  if (!body.Skip(1) || !body.Varint(64, &timestamp_delta))
    return false;
  if (!body.Varint(32, &offset_delta) || offset_delta != index)
    return false;
  if (!body.Bytes(true) || !body.Bytes(true))
    return false;
  return CheckHeaders(&body) && body.left() == 0;
}

bool CheckClientHeader(const BatchHeader& header) {
  if (header.base_offset != 0)
    return false;
  if (header.records_count <= 0)
    return false;
  if (header.last_offset_delta != header.records_count - 1)
    return false;
  if ((header.attributes & format::kControl) != 0)
    return false;
  if ((header.attributes & format::kCodecMask) > format::kCodecMax)
    return false;
  return header.producer_id < 0 || header.base_sequence >= 0;
}

BatchHeader ReadMessageHeader(const uint8_t* bytes) {
  BatchHeader header = {};
  header.base_offset = LoadBig<int64_t>(bytes + format::kBaseOffset);
  header.batch_length = LoadBig<int32_t>(bytes + format::kBatchLength);
  header.leader_epoch = -1;
  header.magic = LoadBig<int8_t>(bytes + format::kOldMagic);
  header.crc = LoadBig<uint32_t>(bytes + format::kOldCrc);
  header.attributes = bytes[format::kOldAttributes] & format::kOldAttributesMask;
  header.max_timestamp = header.magic == format::kMagicV1
                             ? LoadBig<int64_t>(bytes + format::kOldTimestamp)
                             : format::kNoTimestamp;
  header.producer_id = -1;
  header.base_sequence = -1;
  header.records_count = 1;
  return header;
}

} // namespace

size_t HeaderBytesOf(int8_t magic) {
  if (!IsOldMagic(magic))
    return format::kHeaderBytes;
  return magic == format::kMagicV1 ? format::kMessageBytesMinV1 : format::kMessageBytesMinV0;
}

BatchHeader ReadHeader(const uint8_t* bytes) {
  if (IsOldMagic(LoadBig<int8_t>(bytes + format::kMagic)))
    return ReadMessageHeader(bytes);
  BatchHeader header;
  header.base_offset = LoadBig<int64_t>(bytes + format::kBaseOffset);
  header.batch_length = LoadBig<int32_t>(bytes + format::kBatchLength);
  header.leader_epoch = LoadBig<int32_t>(bytes + format::kLeaderEpoch);
  header.magic = LoadBig<int8_t>(bytes + format::kMagic);
  header.crc = LoadBig<uint32_t>(bytes + format::kCrc);
  header.attributes = LoadBig<int16_t>(bytes + format::kAttributes);
  header.last_offset_delta = LoadBig<int32_t>(bytes + format::kLastOffsetDelta);
  header.max_timestamp = LoadBig<int64_t>(bytes + format::kMaxTimestamp);
  header.producer_id = LoadBig<int64_t>(bytes + format::kProducerId);
  header.base_sequence = LoadBig<int32_t>(bytes + format::kBaseSequence);
  header.records_count = LoadBig<int32_t>(bytes + format::kRecordsCount);
  return header;
}

Status CheckStoredHeader(const BatchHeader& header) {
  if (header.magic != format::kMagicV2 && !IsOldMagic(header.magic))
    return Status::Of(Code::kBadMagic);
  const size_t bytes_min = HeaderBytesOf(header.magic);
  if (header.batch_length < static_cast<int32_t>(bytes_min - format::kOverheadBytes))
    return kCorrupt;
  if (header.base_offset < 0 || header.last_offset_delta < 0)
    return kCorrupt;
  // Compaction leaves fewer records than offsets, or none; never more.
  if (header.records_count < 0)
    return kCorrupt;
  if (int64_t{header.records_count} > int64_t{header.last_offset_delta} + 1)
    return kCorrupt;
  if (header.base_offset > format::kOffsetMax - header.last_offset_delta) {
    return Status::Of(Code::kOffsetTooLarge);
  }
  return Status::Ok();
}

bool CrcMatches(const uint8_t* bytes, const BatchHeader& header) {
  if (IsOldMagic(header.magic)) {
    const size_t summed = static_cast<size_t>(header.size()) - format::kOldMagic;
    return Crc32(bytes + format::kOldMagic, summed, 0) == header.crc;
  }
  const size_t length = static_cast<size_t>(header.size()) - format::kAttributes;
  return Crc32c(bytes + format::kAttributes, length, 0) == header.crc;
}

Status CheckClientBatch(const uint8_t* bytes, size_t length, BatchHeader* header, int32_t* record) {
  *record = -1;
  if (length <= format::kMagic)
    return kCorrupt;
  if (LoadBig<int8_t>(bytes + format::kMagic) != format::kMagicV2) {
    return Status::Of(Code::kBadMagic);
  }
  if (length < format::kHeaderBytes)
    return kCorrupt;
  *header = ReadHeader(bytes);
  if (header->batch_length < format::kBatchLengthMin || header->size() > length)
    return kCorrupt;
  if (!CrcMatches(bytes, *header))
    return kCorrupt;
  // More bytes behind a whole batch: a second one, where a request carries one.
  if (header->size() != length || !CheckClientHeader(*header))
    return kInvalid;
  if ((header->attributes & format::kCodecMask) != 0)
    return Status::Ok();
  Cursor records(bytes + format::kHeaderBytes, length - format::kHeaderBytes);
  for (int32_t index = 0; index < header->records_count; index++) {
    if (CheckRecord(&records, index))
      continue;
    *record = index;
    return kInvalid;
  }
  return records.left() == 0 ? Status::Ok() : kInvalid;
}

Status CheckEncodedBatch(const uint8_t* bytes, size_t length, BatchHeader* header) {
  if (length < format::kHeaderBytes)
    return kCorrupt;
  if (LoadBig<int8_t>(bytes + format::kMagic) != format::kMagicV2)
    return Status::Of(Code::kBadMagic);
  *header = ReadHeader(bytes);
  if (header->batch_length < format::kBatchLengthMin || header->size() != length)
    return kCorrupt;
  return CheckClientHeader(*header) ? Status::Ok() : kInvalid;
}

void SumBatch(uint8_t* bytes, size_t length) {
  const uint32_t sum = Crc32c(bytes + format::kAttributes, length - format::kAttributes, 0);
  StoreBig<uint32_t>(bytes + format::kCrc, sum);
}

void StampBatch(uint8_t* bytes, int64_t base_offset, int32_t leader_epoch) {
  StoreBig<int64_t>(bytes + format::kBaseOffset, base_offset);
  StoreBig<int32_t>(bytes + format::kLeaderEpoch, leader_epoch);
}

} // namespace seglog
