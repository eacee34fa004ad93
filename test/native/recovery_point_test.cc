// Recovery from a point below which everything was on disk: what is cut, what is kept, what is
// read.
#include "support.h"

#include <filesystem>
#include <limits>
#include <unistd.h>

using namespace seglog;
using namespace seglog::test;

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
constexpr int kBatches = 10;

SegmentOptions From(int64_t offset) {
  SegmentOptions options = Options();
  options.index_interval_bytes = 200;
  options.recover = true;
  options.recover_from = offset;
  return options;
}

Bytes TenBatches(std::vector<Stored>* stored) {
  for (const char* ending : {".log", ".index", ".timeindex"}) {
    if (Exists(PathOf() + ending))
      Remove(PathOf() + ending);
  }
  auto segment = CreateSegment(0, From(0));
  for (int i = 0; i < kBatches; i++)
    CHECK(AppendClient(segment.get(), {1, 10, 1000 + i, 0, -1, 0, -1}).ok());
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  *stored = ScanAll(PathOf() + ".log");
  return ReadAll(PathOf() + ".log");
}

} // namespace

SEGMENT_TEST(Any_bit_turned_below_the_recovery_point_is_reported_and_kept_and_hits_one_batch) {
  std::vector<Stored> stored;
  const Bytes whole = TenBatches(&stored);
  for (const bool indexed : {true, false}) {
    for (size_t bit = 0; bit < stored[5].size * 8; bit++) {
      if (bit / 8 >= format::kLeaderEpoch && bit / 8 < format::kLeaderEpoch + 4)
        continue;
      Bytes bytes = whole;
      bytes[stored[5].position + bit / 8] ^= static_cast<uint8_t>(1 << bit % 8);
      WriteAll(PathOf() + ".log", bytes);
      if (!indexed)
        Remove(PathOf() + ".index");
      SegmentReport report;
      auto segment = OpenSegment(From(10), &report);
      CHECK(ReadAll(PathOf() + ".log") == bytes);
      CHECK_EQ(InfoOf(segment.get()).next_offset, kBatches);
      if (!indexed) { // otherwise the scan begins behind it
        CHECK_CODE(Status::Of(report.scan.damage),
                   report.scan.damage == Code::kOk ? Code::kCorrupt : report.scan.damage);
        CHECK_EQ(report.scan.damage_position, stored[5].position);
        CHECK_EQ(report.scan.damage_offset, 5);
      }
      for (int64_t offset = 0; offset < kBatches; offset++) {
        BatchRange found;
        const Status status = segment->Locate(offset, 1, kNoLimit, &found);
        CHECK_CODE(status, offset == 5 ? Code::kCorrupt : Code::kOk);
        if (offset != 5)
          CHECK_EQ(found.position, stored[static_cast<size_t>(offset)].position);
      }
      CHECK(AppendClient(segment.get(), {}).ok());
    }
  }
}

SEGMENT_TEST(Damage_at_or_above_the_recovery_point_ends_the_log_and_is_cut) {
  std::vector<Stored> stored;
  const Bytes whole = TenBatches(&stored);
  for (const int64_t from : {int64_t{0}, int64_t{3}, int64_t{5}}) {
    Bytes bytes = whole;
    bytes[stored[5].position + format::kHeaderBytes] ^= 1;
    WriteAll(PathOf() + ".log", bytes);
    SegmentReport report;
    auto segment = OpenSegment(From(from), &report);
    CHECK_CODE(Status::Of(report.scan.damage), Code::kCorrupt);
    CHECK_EQ(report.scan.damage_position, stored[5].position);
    CHECK_EQ(report.scan.damage_offset, 5);
    CHECK_EQ(InfoOf(segment.get()).next_offset, 5);
    CHECK_EQ(SizeOf(PathOf() + ".log"), stored[5].position);
    CHECK_EQ(InfoOf(segment.get()).max_timestamp, 1004);
    CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
  }
}

SEGMENT_TEST(Damage_below_and_above_the_recovery_point_is_kept_and_cut) {
  std::vector<Stored> stored;
  Bytes bytes = TenBatches(&stored);
  bytes[stored[2].position + format::kBatchLength] ^= 0x40;
  bytes[stored[8].position + format::kHeaderBytes] ^= 1;
  WriteAll(PathOf() + ".log", bytes);
  Remove(PathOf() + ".timeindex");
  SegmentReport report;
  auto segment = OpenSegment(From(6), &report);
  CHECK_EQ(report.scan.damage_offset, 2);
  CHECK_EQ(InfoOf(segment.get()).next_offset, 8);
  CHECK_EQ(SizeOf(PathOf() + ".log"), stored[8].position);
  BatchRange range;
  CHECK(AppendClient(segment.get(), {}, &range).ok());
  CHECK_EQ(range.base_offset, 8);
  CHECK_CODE(segment->Locate(2, 1, kNoLimit, &range), Code::kCorrupt);
  CHECK(segment->Locate(3, 1, kNoLimit, &range).ok());
  CHECK_EQ(range.position, stored[3].position);
}

SEGMENT_TEST(An_end_that_is_lost_below_the_recovery_point_stays_and_the_next_batch_needs_a_roll) {
  std::vector<Stored> stored;
  Bytes bytes = TenBatches(&stored);
  for (size_t at = stored[7].position; at < bytes.size(); at++)
    bytes[at] = 0xee;
  WriteAll(PathOf() + ".log", bytes);
  SegmentReport report;
  auto segment = OpenSegment(From(10), &report);
  CHECK(ReadAll(PathOf() + ".log") == bytes);
  CHECK_EQ(report.scan.damage_offset, 7);
  CHECK_EQ(InfoOf(segment.get()).next_offset, 10);
  BatchRange found;
  CHECK(segment->Locate(6, 1, kNoLimit, &found).ok());
  for (int64_t offset = 7; offset < 10; offset++)
    CHECK_CODE(segment->Locate(offset, 1, kNoLimit, &found), Code::kCorrupt);
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kSegmentFull);
}

SEGMENT_TEST(A_recovery_reads_from_the_indexed_batch_at_the_recovery_point_on) {
  auto segment = CreateSegment(0, From(0));
  for (int i = 0; i < 4000; i++)
    CHECK(AppendClient(segment.get(), {1, 500, 1000 + i, 0, -1, 0, -1}).ok());
  CHECK(segment->Flush().ok());
  const uint64_t size = InfoOf(segment.get()).size;
  // The helper writes the indexes, of which a flush does not wait for the last few.
  const uint64_t entries = size / 4096;
  for (int i = 0; i < 1000 && SizeOf(PathOf() + ".index") / 8 < entries * 3 / 4; i++)
    ::usleep(10000);
  uint64_t before = ScannedBytes();
  SegmentReport report;
  auto opened = OpenSegment(From(3900), &report);
  CHECK(ScannedBytes() - before < size / 20);
  CHECK_EQ(InfoOf(opened.get()).next_offset, 4000);
  CHECK_EQ(InfoOf(opened.get()).max_timestamp, 4999);
  CheckLookups(opened.get(), ScanAll(PathOf() + ".log"));
  before = ScannedBytes();
  opened = OpenSegment(From(0), &report);
  CHECK_EQ(ScannedBytes() - before, size);
}

SEGMENT_TEST(A_time_index_that_lost_its_end_hides_no_timestamp_from_a_recovery) {
  auto segment = CreateSegment(0, From(0));
  for (int i = 0; i < 300; i++) { // the largest one stands in the middle
    const int64_t timestamp = i == 150 ? 9000 : 1000 + i;
    CHECK(AppendClient(segment.get(), {1, 10, timestamp, 0, -1, 0, -1}).ok());
  }
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  const uint64_t times = SizeOf(PathOf() + ".timeindex") / 12;
  for (uint64_t kept = 0; kept <= times; kept++) {
    std::filesystem::resize_file(PathOf() + ".timeindex", kept * 12);
    SegmentReport report;
    auto opened = OpenSegment(From(299), &report);
    CHECK_EQ(InfoOf(opened.get()).max_timestamp, 9000);
    CheckLookups(opened.get(), ScanAll(PathOf() + ".log"));
    opened->EndAppends();
    CHECK(opened->Seal(false).ok());
  }
}
