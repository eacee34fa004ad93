// Damage in the middle of a log: what it hits is corrupt, what it does not is readable, and nothing
// is passed over in silence.
#include "support.h"

#include <limits>

using namespace seglog;
using namespace seglog::test;

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int kBatches = 10;
constexpr int kRecords = 3;
constexpr int64_t kEnd = kBatches * kRecords;
constexpr uint32_t kNoEntries = 1 << 20; // an interval that gives no entry at all

SegmentOptions Interval(uint32_t bytes) {
  SegmentOptions options = Options();
  options.index_interval_bytes = bytes;
  return options;
}

// Ten sealed batches of three records.
Bytes TenBatches(size_t value_bytes, const SegmentOptions& options, std::vector<Stored>* stored) {
  for (const char* ending : {".log", ".index", ".timeindex"}) {
    if (Exists(PathOf() + ending))
      Remove(PathOf() + ending);
  }
  auto segment = CreateSegment(0, options);
  for (int i = 0; i < kBatches; i++) {
    CHECK(AppendClient(segment.get(), {kRecords, value_bytes, 1000 + i, 0, -1, 0, -1}).ok());
  }
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  *stored = ScanAll(PathOf() + ".log");
  return ReadAll(PathOf() + ".log");
}

std::shared_ptr<Segment> OpenTrusted(SegmentOptions options) {
  options.trusted_next_offset = kEnd;
  SegmentReport report;
  return OpenSegment(options, &report);
}

// The offsets of the damaged batch are corrupt, or, where `lenient`, its bytes are given as they
// are; all others are found, whatever the limit.
void CheckHit(Segment* segment, const std::vector<Stored>& stored, size_t hit, bool lenient,
              const std::string& what = "") {
  for (int64_t offset = 0; offset < kEnd; offset++) {
    const size_t batch = static_cast<size_t>(offset / kRecords);
    for (const int64_t limit : {kNoLimit, kEnd, (offset / kRecords + 1) * kRecords}) {
      BatchRange found;
      const Status status = segment->Locate(offset, 1, limit, &found);
      if (batch == hit && !(lenient && status.ok())) {
        CHECK_CODE(status, Code::kCorrupt);
        continue;
      }
      if (!status.ok())
        seglog::test::Fail(__FILE__, __LINE__, what + " offset " + std::to_string(offset));
      CHECK_EQ(found.position, stored[batch].position);
      if (batch != hit)
        CHECK_EQ(found.length, stored[batch].size);
    }
  }
}

// Turns each bit of the header of one batch in turn. Leader epochs are left out: nothing tells a
// wrong one.
void CheckEveryBit(size_t value_bytes, uint32_t interval, size_t hit, bool lenient) {
  std::vector<Stored> stored;
  const SegmentOptions options = Interval(interval);
  const Bytes whole = TenBatches(value_bytes, options, &stored);
  for (size_t bit = 0; bit < format::kHeaderBytes * 8; bit++) {
    const size_t at = bit / 8;
    if (at >= format::kLeaderEpoch && at < format::kLeaderEpoch + 4)
      continue;
    Bytes bytes = whole;
    bytes[stored[hit].position + at] ^= static_cast<uint8_t>(1 << bit % 8);
    WriteAll(PathOf() + ".log", bytes);
    auto segment = OpenTrusted(options);
    CheckHit(segment.get(), stored, hit, lenient, "bit " + std::to_string(bit));
    CHECK(ReadAll(PathOf() + ".log") == bytes);
  }
}

} // namespace

SEGMENT_TEST(Any_bit_turned_in_the_header_of_a_batch_is_corrupt_there_and_hits_no_other_batch) {
  for (const size_t hit : {size_t{0}, size_t{5}, size_t{9}}) {
    CheckEveryBit(10, kNoEntries, hit, false);
    CheckEveryBit(10, 200, hit, false);
  }
}

SEGMENT_TEST(Any_bit_turned_in_the_header_of_a_large_batch_leads_no_lookup_astray) {
  CheckEveryBit(10000, kNoEntries, 5, true);
}

SEGMENT_TEST(A_bit_turned_in_the_records_of_a_batch_is_corrupt_for_its_offsets_alone) {
  std::vector<Stored> stored;
  const Bytes whole = TenBatches(10, Interval(kNoEntries), &stored);
  for (uint64_t at = format::kHeaderBytes; at < stored[5].size; at++) {
    Bytes bytes = whole;
    bytes[stored[5].position + at] ^= 8;
    WriteAll(PathOf() + ".log", bytes);
    auto segment = OpenTrusted(Interval(kNoEntries));
    CheckHit(segment.get(), stored, 5, false);
  }
}

SEGMENT_TEST(A_length_that_swallows_the_next_batch_whole_is_corrupt_for_both) {
  std::vector<Stored> stored;
  Bytes bytes = TenBatches(10, Interval(kNoEntries), &stored);
  const auto both = static_cast<int32_t>(2 * stored[5].size - format::kOverheadBytes);
  StoreBig<int32_t>(bytes.data() + stored[5].position + format::kBatchLength, both);
  WriteAll(PathOf() + ".log", bytes);
  auto segment = OpenTrusted(Interval(kNoEntries));
  BatchRange found;
  CHECK_CODE(segment->Locate(15, 1, kNoLimit, &found), Code::kCorrupt);
  CHECK_CODE(segment->Locate(18, 1, kNoLimit, &found), Code::kCorrupt);
  CHECK(segment->Locate(21, 1, kNoLimit, &found).ok());
  CHECK_EQ(found.position, stored[7].position);
}

SEGMENT_TEST(A_turned_bit_under_an_open_segment_is_corrupt_too) {
  auto segment = CreateSegment();
  for (int i = 0; i < kBatches; i++)
    CHECK(AppendClient(segment.get(), {kRecords, 10, 1000, 0, -1, 0, -1}).ok());
  const auto stored = ScanAll(PathOf() + ".log");
  const Bytes whole = ReadAll(PathOf() + ".log");
  for (const size_t hit : {size_t{5}, size_t{9}}) {
    for (const size_t field : {format::kBaseOffset + 7, format::kLastOffsetDelta + 3}) {
      Bytes bytes = whole;
      bytes[stored[hit].position + field] ^= 0x40;
      WriteAll(PathOf() + ".log", bytes);
      CheckHit(segment.get(), stored, hit, false);
    }
  }
}

SEGMENT_TEST(A_gap_that_was_always_there_is_no_damage) {
  auto segment = CreateSegment();
  BatchSpec spec;
  for (const int64_t base : {0, 10, 100, 5000}) {
    spec.base_offset = base;
    spec.last_offset_delta = base == 10 ? 5 : -1; // as compaction leaves a batch
    CHECK(AppendLeader(segment.get(), MakeBatch(spec)).ok());
  }
  CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
}

SEGMENT_TEST(A_timestamp_lookup_that_meets_damage_is_corrupt_and_one_that_does_not_is_right) {
  std::vector<Stored> stored;
  Bytes bytes = TenBatches(10, Interval(200), &stored);
  bytes[stored[5].position + format::kMaxTimestamp + 7] ^= 0x7f;
  WriteAll(PathOf() + ".log", bytes);
  auto segment = OpenTrusted(Interval(200));
  BatchRange found;
  CHECK_CODE(segment->LocateTimestamp(1005, &found), Code::kCorrupt);
  CHECK(segment->LocateTimestamp(1002, &found).ok());
  CHECK_EQ(found.position, stored[2].position);
  CHECK(segment->LocateTimestamp(1008, &found).ok());
  CHECK_EQ(found.position, stored[8].position);
}

SEGMENT_TEST(What_only_looks_like_batches_does_not_hold_up_a_lookup_behind_damage) {
  // Records full of headers that would each have to be summed over megabytes.
  Bytes trap;
  BatchSpec spec;
  spec.base_offset = 5;
  Bytes header = MakeBatch(spec);
  header.resize(format::kHeaderBytes);
  StoreBig<int32_t>(header.data() + format::kBatchLength, 3 << 20);
  while (trap.size() < size_t{4} << 20)
    trap.insert(trap.end(), header.begin(), header.end());
  auto segment = CreateSegment();
  spec.base_offset = 0;
  spec.attributes = 1; // compressed: nobody looks into it
  CHECK(AppendLeader(segment.get(), MakeBatchOf(spec, trap)).ok());
  spec.base_offset = 1;
  CHECK(AppendLeader(segment.get(), MakeBatchOf(spec, trap)).ok());
  Bytes bytes = ReadAll(PathOf() + ".log");
  bytes[format::kBatchLength] ^= 0x40;
  WriteAll(PathOf() + ".log", bytes);
  BatchRange found;
  CHECK_CODE(segment->Locate(0, 1, kNoLimit, &found), Code::kCorrupt);
}
