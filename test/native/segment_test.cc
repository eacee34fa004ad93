// Append, lookups, limits, truncation, faults of one segment.
#include "support.h"

#include <cerrno>
#include <filesystem>
#include <limits>

using namespace seglog;
using namespace seglog::test;

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

SegmentOptions SmallInterval() {
  SegmentOptions options = Options();
  options.index_interval_bytes = 200;
  return options;
}

// Batches with gaps between them and timestamps that go up and down, as a follower sees them.
std::shared_ptr<Segment> Uneven(int batches, const SegmentOptions& options) {
  auto segment = CreateSegment(100, options);
  BatchSpec spec;
  spec.base_offset = 100;
  for (int i = 0; i < batches; i++) {
    spec.records = 1 + i % 3;
    spec.timestamp = 1000 + (i * 37) % 101;
    spec.last_offset_delta = spec.records - 1 + i % 2;
    CHECK(AppendLeader(segment.get(), MakeBatch(spec)).ok());
    spec.base_offset += spec.last_offset_delta + 1 + (i % 5 == 0 ? 3 : 0);
  }
  return segment;
}

} // namespace

SEGMENT_TEST(
    An_append_stamps_offset_and_epoch_and_publishes_size_next_offset_and_timestamp_together) {
  auto segment = CreateSegment(50);
  BatchRange range;
  CHECK(AppendClient(segment.get(), {3, 10, 1234, 0, -1, 0, -1}, &range).ok());
  CHECK_EQ(range.base_offset, 50);
  CHECK_EQ(range.last_offset, 52);
  CHECK_EQ(range.leader_epoch, 7);
  CHECK_EQ(range.position, 0u);
  const SegmentInfo info = InfoOf(segment.get());
  CHECK_EQ(info.next_offset, 53);
  CHECK_EQ(info.size, range.length);
  CHECK_EQ(info.max_timestamp, 1234);
  CHECK_EQ(info.offset_of_max_timestamp, 52);
  const auto stored = ScanAll(PathOf(50) + ".log");
  CHECK_EQ(stored.size(), 1u);
  CHECK_EQ(stored[0].base_offset, 50);
}

SEGMENT_TEST(Creating_a_segment_that_is_there_fails_with_EXISTS_and_leaves_it_alone) {
  auto segment = CreateSegment();
  CHECK(AppendClient(segment.get(), {}).ok());
  const uint64_t size = SizeOf(PathOf() + ".log");
  std::shared_ptr<Segment> second;
  CHECK_CODE(Segment::Create(PathOf(), 0, Options(), &second), Code::kExists);
  CHECK_EQ(SizeOf(PathOf() + ".log"), size);
}

SEGMENT_TEST(
    Every_lookup_equals_a_full_scan_with_gaps_unordered_timestamps_and_small_index_intervals) {
  auto segment = Uneven(200, SmallInterval());
  CheckLookups(segment.get(), ScanAll(PathOf(100) + ".log"));
}

SEGMENT_TEST(A_lookup_gives_whole_first_batch_above_the_byte_limit_and_stops_at_the_offset_limit) {
  auto segment = CreateSegment();
  for (int i = 0; i < 4; i++)
    CHECK(AppendClient(segment.get(), {5, 10, 1000, 0, -1, 0, -1}).ok());
  const uint64_t size = InfoOf(segment.get()).size / 4;
  BatchRange found;
  CHECK(segment->Locate(7, 1, kNoLimit, &found).ok());
  CHECK_EQ(found.base_offset, 5);
  CHECK_EQ(found.length, size);
  CHECK(segment->Locate(7, 2 * size + 1, kNoLimit, &found).ok());
  CHECK_EQ(found.length, 2 * size + 1);
  CHECK(segment->Locate(7, 100 * size, 12, &found).ok());
  CHECK_EQ(found.length, size); // offset 12 lies in the third batch
  CHECK(segment->Locate(7, 100 * size, 15, &found).ok());
  CHECK_EQ(found.length, 2 * size);
  CHECK(segment->Locate(7, 100 * size, 9, &found).ok());
  CHECK_EQ(found.length, 0u); // offset 9 lies in the batch of 7
  CHECK(segment->Locate(7, 100 * size, 7, &found).ok());
  CHECK_EQ(found.length, 0u);
}

SEGMENT_TEST(
    A_lookup_at_the_end_finds_nothing_one_beyond_the_end_or_below_the_base_is_out_of_range) {
  auto segment = CreateSegment(10);
  CHECK(AppendClient(segment.get(), {}).ok());
  BatchRange found;
  CHECK(segment->Locate(11, 100, kNoLimit, &found).ok());
  CHECK_EQ(found.length, 0u);
  CHECK_CODE(segment->Locate(12, 100, kNoLimit, &found), Code::kOffsetOutOfRange);
  CHECK_CODE(segment->Locate(9, 100, kNoLimit, &found), Code::kOffsetOutOfRange);
}

SEGMENT_TEST(A_flipped_byte_in_a_header_is_corrupt_for_what_it_hits_and_nothing_is_cut) {
  auto segment = CreateSegment(0);
  for (int i = 0; i < 10; i++)
    CHECK(AppendClient(segment.get(), {}).ok());
  const auto stored = ScanAll(PathOf() + ".log");
  Bytes bytes = ReadAll(PathOf() + ".log");
  bytes[stored[5].position + format::kMagic] = 9;
  WriteAll(PathOf() + ".log", bytes);
  BatchRange found;
  CHECK(segment->Locate(3, 1, kNoLimit, &found).ok());
  CHECK_CODE(segment->Locate(5, 1, kNoLimit, &found), Code::kCorrupt);
  CHECK(segment->Locate(6, 1, kNoLimit, &found).ok());
  CHECK_EQ(found.position, stored[6].position);
  CHECK_EQ(SizeOf(PathOf() + ".log"), bytes.size());
  CHECK_EQ(InfoOf(segment.get()).next_offset, 10);
}

SEGMENT_TEST(A_batch_that_passes_the_size_limit_is_refused_as_full_but_an_empty_segment_takes_it) {
  SegmentOptions options = Options();
  options.segment_bytes = 500;
  auto segment = CreateSegment(0, options);
  CHECK(AppendClient(segment.get(), {1, 1000, 1, 0, -1, 0, -1}).ok());
  const SegmentInfo before = InfoOf(segment.get());
  Bytes batch = MakeBatch({});
  const Bytes copy = batch;
  BatchRange range;
  int32_t record;
  CHECK_CODE(
      segment->Append(batch.data(), batch.size(), Segment::Source::kClient, 7, &range, &record),
      Code::kSegmentFull);
  CHECK(batch == copy); // unstamped: the next segment takes it as it is
  CHECK_EQ(InfoOf(segment.get()).size, before.size);
}

SEGMENT_TEST(A_segment_takes_no_offset_above_31_bits_from_its_base_and_the_last_that_fits) {
  auto segment = CreateSegment(0);
  BatchSpec spec;
  spec.base_offset = 0;
  CHECK(AppendLeader(segment.get(), MakeBatch(spec)).ok());
  spec.base_offset = int64_t{INT32_MAX} + 1;
  CHECK_CODE(AppendLeader(segment.get(), MakeBatch(spec)), Code::kSegmentFull);
  spec.base_offset = INT32_MAX;
  CHECK(AppendLeader(segment.get(), MakeBatch(spec)).ok());
  BatchRange found;
  CHECK(segment->Locate(1, 1, kNoLimit, &found).ok());
  CHECK_EQ(found.base_offset, INT32_MAX);
  auto empty = CreateSegment(1);
  spec.base_offset = int64_t{INT32_MAX} + 2;
  CHECK_CODE(AppendLeader(empty.get(), MakeBatch(spec)), Code::kSegmentFull);
}

SEGMENT_TEST(Offsets_end_at_2_53_1) {
  auto segment = CreateSegment(format::kOffsetMax);
  CHECK_CODE(AppendClient(segment.get(), {2, 1, 1, 0, -1, 0, -1}), Code::kOffsetTooLarge);
  CHECK(AppendClient(segment.get(), {}).ok());
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kOffsetTooLarge);
  BatchSpec spec;
  spec.base_offset = format::kOffsetMax + 1;
  CHECK_CODE(AppendLeader(segment.get(), MakeBatch(spec)), Code::kOffsetTooLarge);
}

SEGMENT_TEST(Batches_of_a_leader_keep_offsets_and_epochs_and_none_goes_back) {
  auto segment = CreateSegment(0);
  BatchSpec spec;
  spec.leader_epoch = 3;
  spec.base_offset = 4;
  Bytes both = MakeBatch(spec);
  spec.base_offset = 9;
  const Bytes second = MakeBatch(spec);
  both.insert(both.end(), second.begin(), second.end());
  BatchRange range;
  CHECK(AppendLeader(segment.get(), both, &range).ok());
  CHECK_EQ(range.base_offset, 4);
  CHECK_EQ(range.last_offset, 9);
  CHECK_EQ(range.batches, 2);
  CHECK(ReadAll(PathOf() + ".log") == both);
  CHECK_CODE(AppendLeader(segment.get(), second), Code::kOffsetOutOfRange);
  spec.base_offset = 10;
  Bytes torn = MakeBatch(spec);
  torn.insert(torn.end(), 30, 0);
  CHECK_CODE(AppendLeader(segment.get(), torn), Code::kBadMagic);
  torn.resize(torn.size() - 20);
  CHECK_CODE(AppendLeader(segment.get(), torn), Code::kCorrupt);
  CHECK(ReadAll(PathOf() + ".log") == both);
}

SEGMENT_TEST(After_a_full_disk_nothing_is_lost_and_appends_go_on_once_there_is_space) {
  auto segment = CreateSegment(0);
  CHECK(AppendClient(segment.get(), {}).ok());
  const SegmentInfo before = InfoOf(segment.get());
  Bytes batch = MakeBatch({});
  const Bytes copy = batch;
  BatchRange range;
  int32_t record;
  {
    const Faults full([](File::Act act, const std::string&, size_t* length) {
      if (act != File::Act::kWrite)
        return 0;
      *length /= 2;
      return ENOSPC;
    });
    CHECK_CODE(
        segment->Append(batch.data(), batch.size(), Segment::Source::kClient, 7, &range, &record),
        Code::kNoSpace);
  }
  CHECK(batch == copy);
  CHECK_EQ(InfoOf(segment.get()).size, before.size);
  CHECK_EQ(SizeOf(PathOf() + ".log"), before.size);
  CHECK(segment->Append(batch.data(), batch.size(), Segment::Source::kClient, 7, &range, &record)
            .ok());
  CHECK_EQ(range.base_offset, 1);
  CHECK_EQ(ScanAll(PathOf() + ".log").size(), 2u);
}

SEGMENT_TEST(
    After_a_short_write_with_an_error_every_append_is_fenced_until_the_segment_is_reopened) {
  auto segment = CreateSegment(0);
  CHECK(AppendClient(segment.get(), {}).ok());
  {
    const Faults broken([](File::Act act, const std::string&, size_t* length) {
      if (act != File::Act::kWrite)
        return 0;
      *length -= 1;
      return EIO;
    });
    CHECK_CODE(AppendClient(segment.get(), {}), Code::kIo);
  }
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kFenced);
  CHECK_CODE(segment->Flush(), Code::kFenced);
  BatchRange found;
  CHECK(segment->Locate(0, 1, kNoLimit, &found).ok());
  segment->EndAppends();
  CHECK_CODE(segment->Seal(true), Code::kFenced);
  SegmentOptions options = Options();
  options.recover = true;
  SegmentReport report;
  segment = OpenSegment(options, &report);
  CHECK_EQ(report.scan.next_offset, 1);
  BatchRange range;
  CHECK(AppendClient(segment.get(), {}, &range).ok());
  CHECK_EQ(range.base_offset, 1);
  CHECK_EQ(ScanAll(PathOf() + ".log").size(), 2u);
}

SEGMENT_TEST(After_a_failed_sync_every_append_is_fenced) {
  auto segment = CreateSegment(0);
  CHECK(AppendClient(segment.get(), {}).ok());
  {
    const Faults broken([](File::Act act, const std::string&, size_t*) {
      return act == File::Act::kSync ? EIO : 0;
    });
    CHECK_CODE(segment->Flush(), Code::kIo);
  }
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kFenced);
}

SEGMENT_TEST(An_index_that_cannot_be_written_fails_no_append_and_is_made_anew_by_the_next_open) {
  auto segment = CreateSegment(0, SmallInterval());
  {
    const Faults full([](File::Act act, const std::string& path, size_t*) {
      return act == File::Act::kWrite && path.find("index") != std::string::npos ? ENOSPC : 0;
    });
    for (int i = 0; i < 3000; i++)
      CHECK(AppendClient(segment.get(), {}).ok());
    segment->EndAppends();
    CHECK(segment->Seal(true).ok());
  }
  CHECK(!Exists(PathOf() + ".index"));
  SegmentReport report;
  auto reopened = OpenSegment(SmallInterval(), &report);
  CHECK(report.index_rebuilt);
  CHECK_EQ(report.scan.next_offset, 3000);
  CHECK(Exists(PathOf() + ".index"));
}

SEGMENT_TEST(A_seal_ends_appends_trims_the_file_to_its_valid_size_and_leaves_it_readable) {
  auto segment = CreateSegment(0);
  CHECK(AppendClient(segment.get(), {}).ok());
  const uint64_t size = InfoOf(segment.get()).size;
  std::filesystem::resize_file(PathOf() + ".log", size + 5000); // as a reservation leaves it
  CHECK_EQ(InfoOf(segment.get()).file_bytes, size + 5000);
  segment->EndAppends();
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kReadOnly);
  CHECK(segment->Seal(true).ok());
  CHECK_EQ(SizeOf(PathOf() + ".log"), size);
  BatchRange found;
  CHECK(segment->Locate(0, 1, kNoLimit, &found).ok());
  CHECK_EQ(found.length, size);
}

SEGMENT_TEST(A_read_is_bounded_by_the_published_size_whatever_the_length_of_the_file) {
  auto segment = CreateSegment(0);
  CHECK(AppendClient(segment.get(), {}).ok());
  const uint64_t size = InfoOf(segment.get()).size;
  std::filesystem::resize_file(PathOf() + ".log", size + 5000);
  Bytes target(1000);
  size_t read;
  CHECK(segment->Read(size - 5, target.data(), target.size(), &read).ok());
  CHECK_EQ(read, 5u);
  CHECK(segment->Read(size + 1, target.data(), target.size(), &read).ok());
  CHECK_EQ(read, 0u);
}

SEGMENT_TEST(
    A_truncation_at_any_offset_leaves_log_indexes_and_largest_timestamp_at_or_below_the_cut) {
  const auto whole = [] {
    auto segment = Uneven(60, SmallInterval());
    return ScanAll(PathOf(100) + ".log");
  }();
  for (int64_t cut = 98; cut <= whole.back().last_offset + 2; cut++) {
    for (const char* ending : {".log", ".index", ".timeindex"}) {
      Remove(PathOf(100) + ending);
    }
    auto segment = Uneven(60, SmallInterval());
    CHECK(segment->Truncate(cut).ok());
    CHECK(segment->Flush().ok());
    std::vector<Stored> kept;
    int64_t next = 100, max = -1;
    for (const Stored& batch : whole) {
      if (batch.last_offset >= cut)
        break;
      kept.push_back(batch);
      max = std::max(max, batch.max_timestamp);
    }
    if (!kept.empty())
      next = kept.back().last_offset + 1;
    SegmentInfo info = InfoOf(segment.get());
    CHECK(info.next_offset >= next && info.next_offset <= std::max<int64_t>(cut, 100));
    CHECK_EQ(info.max_timestamp, max);
    CHECK_EQ(info.file_bytes, info.size);
    CHECK_EQ(ScanAll(PathOf(100) + ".log").size(), kept.size());
    CheckLookups(segment.get(), kept);
    // Writes the indexes, which a flush leaves to the helper.
    segment->EndAppends();
    CHECK(segment->Seal(true).ok());
    SegmentReport report;
    auto reopened = OpenSegment(SmallInterval(), &report, 100);
    CHECK(!report.index_rebuilt);
    CHECK_EQ(InfoOf(reopened.get()).max_timestamp, max);
    CHECK_EQ(InfoOf(reopened.get()).next_offset, next);
    CheckLookups(reopened.get(), kept);
  }
}

SEGMENT_TEST(After_a_truncation_to_the_base_the_segment_is_empty_and_takes_appends) {
  auto segment = CreateSegment(5);
  CHECK(AppendClient(segment.get(), {3, 1, 1, 0, -1, 0, -1}).ok());
  CHECK(segment->Truncate(5).ok());
  CHECK_EQ(InfoOf(segment.get()).size, 0u);
  CHECK_EQ(InfoOf(segment.get()).max_timestamp, -1);
  BatchRange range;
  CHECK(AppendClient(segment.get(), {}, &range).ok());
  CHECK_EQ(range.base_offset, 5);
}
