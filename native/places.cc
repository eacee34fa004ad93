// The walk. See places.h.
#include "places.h"

#include "batch.h"

#include <algorithm>

namespace seglog {

namespace {

constexpr int64_t kExactMax = (int64_t{1} << 53) - 1;
constexpr size_t kRecordBytesMin = 7;

bool IsExact(int64_t number) {
  return number >= -kExactMax && number <= kExactMax;
}

// Zigzag numbers of one record, read with the bounds of the record alone: most take one byte or
// two. A method returns false where the bytes end or the form is longer than Bytes; the reader in
// JavaScript says then what is wrong, if anything.
class RecordBytes {
 public:
  RecordBytes(const uint8_t* next, const uint8_t* end) : next_(next), end_(end) {}

  const uint8_t* next() const { return next_; }
  size_t left() const { return static_cast<size_t>(end_ - next_); }

  template <int Bytes, typename Number> bool Read(Number* number) {
    uint64_t raw = 0;
    for (int i = 0; i < Bytes; i++) {
      if (next_ == end_)
        return false;
      const uint64_t byte = *next_++;
      raw |= (byte & 0x7f) << (7 * i);
      if (byte < 0x80) {
        *number =
            static_cast<Number>(static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1));
        return true;
      }
    }
    return false;
  }

  // Start and length of a key or value, and goes behind it. A length of -1 has no bytes.
  bool Part(const uint8_t* chunk, int32_t* place) {
    int32_t length;
    if (!Read<4>(&length) || length < -1)
      return false;
    place[0] = static_cast<int32_t>(next_ - chunk);
    place[1] = length;
    if (length <= 0)
      return true;
    if (static_cast<size_t>(length) > left())
      return false;
    next_ += length;
    return true;
  }

 private:
  const uint8_t* next_;
  const uint8_t* const end_;
};

class Walk {
 public:
  Walk(const uint8_t* chunk, size_t length, const PlaceRange& range, const PlaceRows& rows)
      : chunk_(chunk), length_(length), range_(range), rows_(rows) {
    found_.next = range.from;
  }

  PlacesFound Run(size_t at) {
    for (bool first = at == 0; found_.bytes < range_.bytes_max && found_.next < range_.to;
         first = false) {
      const size_t size = Batch(at + found_.bytes, first);
      if (size == 0)
        break;
      found_.bytes += size;
    }
    return found_;
  }

 private:
  // The size of the batch, or 0 where it is not to be walked; its rows do not count then.
  size_t Batch(size_t at, bool first) {
    if (length_ - at < format::kHeaderBytes)
      return 0;
    const uint8_t* bytes = chunk_ + at;
    if (LoadBig<int8_t>(bytes + format::kMagic) != format::kMagicV2)
      return 0;
    const BatchHeader header = ReadHeader(bytes);
    base_timestamp_ = LoadBig<int64_t>(bytes + format::kBaseTimestamp);
    if (!CheckStoredHeader(header).ok() || header.size() > length_ - at ||
        (header.attributes & format::kCodecMask) != 0 || !IsExact(base_timestamp_) ||
        !IsExact(header.max_timestamp) || !IsExact(header.producer_id))
      return 0;
    if (!first && header.base_offset != found_.next)
      return 0;
    const auto size = static_cast<size_t>(header.size());
    const auto count = static_cast<size_t>(header.records_count);
    if (count > (size - format::kHeaderBytes) / kRecordBytesMin || !CrcMatches(bytes, header))
      return 0;
    const size_t rows = found_.rows;
    if (!Records(header, bytes, size)) {
      found_.rows = rows;
      return 0;
    }
    found_.next = std::max(found_.next, header.last_offset() + 1);
    return size;
  }

  bool Records(const BatchHeader& header, const uint8_t* bytes, size_t size) {
    const uint8_t* const end = bytes + size;
    const uint8_t* next = bytes + format::kHeaderBytes;
    int64_t expected = header.base_offset;
    for (int32_t i = 0; i < header.records_count; i++) {
      RecordBytes length_bytes(next, end);
      int32_t length;
      if (!length_bytes.Read<4>(&length) || length < static_cast<int32_t>(kRecordBytesMin) - 1 ||
          static_cast<size_t>(length) > length_bytes.left())
        return false;
      next = length_bytes.next() + length;
      if (!Record(header, RecordBytes(length_bytes.next() + 1, next), &expected))
        return false;
    }
    return next == end;
  }

  // REQUIRES: `body` begins behind the attributes of the record.
  bool Record(const BatchHeader& header, RecordBytes body, int64_t* expected) {
    int64_t timestamp_delta;
    int32_t offset_delta;
    if (!body.Read<8>(&timestamp_delta) || !body.Read<4>(&offset_delta))
      return false;
    const int64_t timestamp = base_timestamp_ + timestamp_delta;
    const int64_t offset = header.base_offset + offset_delta;
    if (!IsExact(timestamp_delta) || !IsExact(timestamp) || offset < *expected ||
        offset > header.last_offset())
      return false;
    *expected = offset + 1;
    const bool wanted = offset >= range_.from && offset < range_.to;
    if (wanted && found_.rows == rows_.rows_max)
      return false;
    int32_t unwanted[PlaceRows::kNumbers];
    int32_t* place = wanted ? rows_.places + PlaceRows::kNumbers * found_.rows : unwanted;
    int32_t headers;
    if (!body.Part(chunk_, place) || !body.Part(chunk_, place + 2) || !body.Read<4>(&headers))
      return false;
    place[4] = static_cast<int32_t>(body.next() - chunk_);
    place[5] = headers;
    if ((headers != 0 && !PassHeaders(&body, headers)) || body.left() != 0)
      return false;
    if (!wanted)
      return true;
    const bool stamped = (header.attributes & format::kLogAppendTime) != 0;
    double* times = rows_.times + PlaceRows::kTimes * found_.rows;
    times[0] = static_cast<double>(offset);
    times[1] = static_cast<double>(stamped ? header.max_timestamp : timestamp);
    found_.rows++;
    return true;
  }

  bool PassHeaders(RecordBytes* body, int32_t count) const {
    if (count < 0 || static_cast<size_t>(count) > body->left() / 2)
      return false;
    for (; count > 0; count--) {
      int32_t key[2], value[2];
      if (!body->Part(chunk_, key) || key[1] < 0 || !body->Part(chunk_, value))
        return false;
    }
    return true;
  }

  const uint8_t* const chunk_;
  const size_t length_;
  const PlaceRange range_;
  const PlaceRows rows_;
  int64_t base_timestamp_ = 0;
  PlacesFound found_;
};

} // namespace

PlacesFound FindPlaces(const uint8_t* chunk, size_t length, size_t at, const PlaceRange& range,
                       const PlaceRows& rows) {
  return Walk(chunk, length, range, rows).Run(at);
}

} // namespace seglog
