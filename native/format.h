// Every number that is on the disk, once; docs/disk-format.md says the same in words. Big-endian
// throughout, as Apache Kafka writes it (record batch of magic 2: KIP-98; indexes: KIP-33).
//
// A segment is three files that share a name, %020d of its base offset:
//   .log        record batches, one behind the other, each a header of 61 bytes and its records
//   .index      entries (u32 offset - base of a batch's last record, u32 position of the batch)
//   .timeindex  entries (i64 largest timestamp so far, u32 offset - base of the batch that holds
//   it)
// Behind the valid end of a .log that is written through a mapping lie zeros of reserved space.
#ifndef SEGLOG_FORMAT_H_
#define SEGLOG_FORMAT_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace seglog {
namespace format {

// Header of a record batch: where each field begins.
constexpr size_t kBaseOffset = 0;       // i64
constexpr size_t kBatchLength = 8;      // i32, bytes that follow this field
constexpr size_t kLeaderEpoch = 12;     // i32
constexpr size_t kMagic = 16;           // i8
constexpr size_t kCrc = 17;             // u32, CRC-32C of everything from the attributes on
constexpr size_t kAttributes = 21;      // i16
constexpr size_t kLastOffsetDelta = 23; // i32
constexpr size_t kBaseTimestamp = 27;   // i64
constexpr size_t kMaxTimestamp = 35;    // i64
constexpr size_t kProducerId = 43;      // i64
constexpr size_t kProducerEpoch = 51;   // i16
constexpr size_t kBaseSequence = 53;    // i32
constexpr size_t kRecordsCount = 57;    // i32
constexpr size_t kHeaderBytes = 61;

// What stands before the bytes that kBatchLength counts, in every magic.
constexpr size_t kOverheadBytes = 12;
constexpr int32_t kBatchLengthMin = kHeaderBytes - kOverheadBytes;

static_assert(kBatchLength + 4 == kOverheadBytes, "the length counts what follows it");
static_assert(kLeaderEpoch == kOverheadBytes, "the epoch is the first field that is counted");
static_assert(kMagic + 1 == kCrc && kCrc + 4 == kAttributes, "the sum covers from attributes on");
static_assert(kRecordsCount + 4 == kHeaderBytes, "the count is the last field");

constexpr int8_t kMagicV2 = 2;

// Attributes.
constexpr int16_t kCodecMask = 0x07; // 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd
constexpr int16_t kCodecMax = 4;
constexpr int16_t kLogAppendTime = 0x08; // the largest timestamp is that of all records
constexpr int16_t kControl = 0x20;

// A message of magic 0 or 1, as logs of before Kafka 0.11 hold them, stands where a batch could.
// kBaseOffset is its offset, kBatchLength its size, and the CRC-32 (IEEE) covers everything from
// the magic on. With a codec it wraps a set of messages, and has the offset of the last of them.
constexpr size_t kOldCrc = 12;        // u32
constexpr size_t kOldMagic = 16;      // i8
constexpr size_t kOldAttributes = 17; // i8
constexpr size_t kOldTimestamp = 18;  // i64, in magic 1 alone
constexpr size_t kOldHeaderBytes = 17;
constexpr int8_t kMagicV1 = 1;
// With null key and null value, whose lengths take 4 bytes each.
constexpr size_t kMessageBytesMinV0 = kOldTimestamp + 8;
constexpr size_t kMessageBytesMinV1 = kOldTimestamp + 8 + 8;
constexpr int8_t kOldAttributesMask = 0x0f; // the codec and, in magic 1, LogAppendTime
static_assert(kOldMagic == kMagic, "the magic lies at one place in all of them");
static_assert(kMessageBytesMinV1 < kHeaderBytes, "a buffer for a header holds that of a message");

// Entries of the sparse indexes.
constexpr size_t kOffsetEntryBytes = 8;
constexpr size_t kOffsetEntryPosition = 4;
constexpr size_t kTimeEntryBytes = 12;
constexpr size_t kTimeEntryOffset = 8;
static_assert(kOffsetEntryPosition + 4 == kOffsetEntryBytes, "two fields of 4 bytes");
static_assert(kTimeEntryOffset + 4 == kTimeEntryBytes, "8 bytes and 4");

// Kafka reads relative offsets and positions as signed 32-bit numbers.
constexpr int64_t kRelativeOffsetMax = INT32_MAX;
constexpr uint64_t kSegmentBytesMax = INT32_MAX;

// Offsets cross into JavaScript as doubles, exact up to here.
constexpr int64_t kOffsetMax = (int64_t{1} << 53) - 1;

constexpr int64_t kNoTimestamp = -1;

} // namespace format

// Big-endian numbers at any alignment, on the little-endian machines that are built for.
template <typename T> inline T SwapBytes(T value) {
  if constexpr (sizeof(T) == 8)
    return static_cast<T>(__builtin_bswap64(value));
  if constexpr (sizeof(T) == 4)
    return static_cast<T>(__builtin_bswap32(value));
  if constexpr (sizeof(T) == 2)
    return static_cast<T>(__builtin_bswap16(value));
  return value;
}

template <typename T> inline T LoadBig(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return SwapBytes(value);
}

template <typename T> inline void StoreBig(uint8_t* bytes, T value) {
  value = SwapBytes(value);
  std::memcpy(bytes, &value, sizeof(T));
}

} // namespace seglog

#endif // SEGLOG_FORMAT_H_
