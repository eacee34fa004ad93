// Appends through mappings: the same bytes as by writes, and a full disk that is only an error.
#include "../../native/helper.h"
#include "support.h"

#include <atomic>
#include <cerrno>
#include <thread>

using namespace seglog;
using namespace seglog::test;

namespace {

SegmentOptions Mapped() {
  SegmentOptions options = Options();
  options.mapped = true;
  return options;
}

// Waits until what was posted so far is done: the helper works in order.
void HelperIdle() {
  std::atomic<bool> reached{false};
  while (!Helper::Post([&] { reached = true; }))
    std::this_thread::yield();
  while (!reached)
    std::this_thread::yield();
}

// Appends until a window is in use: the log ends in its first piece.
void AppendUntilMapped(Segment* segment) {
  for (int round = 0; round < 200; round++) {
    CHECK(AppendClient(segment, {1, 30000, 1000 + round, 0, -1, 0, -1}).ok());
    HelperIdle();
    const SegmentInfo info = InfoOf(segment);
    const uint64_t piece_end = info.size + Window::kPieceBytes - info.size % Window::kPieceBytes;
    if (Window::MappedBytes() > 0 && info.size > Window::kPieceBytes &&
        info.file_bytes >= piece_end)
      return;
  }
  CHECK(false); // never mapped: the temporary directory lies on another file system
}

} // namespace

SEGMENT_TEST(
    A_log_that_is_written_through_mappings_is_byte_for_byte_the_one_that_is_written_by_calls) {
  auto written = CreateSegment(0);
  auto mapped = CreateSegment(1, Mapped());
  uint64_t reserved = 0;
  for (int i = 0; i < 6000; i++) {
    // Small ones, and now and then one above the crossing size or across the border of a window.
    BatchSpec spec;
    spec.value_bytes = i % 50 == 49 ? 40000 : 100 + static_cast<size_t>(i) % 3000;
    CHECK(AppendClient(written.get(), spec).ok());
    CHECK(AppendClient(mapped.get(), spec).ok());
    if (i % 64 == 0)
      HelperIdle();
    reserved = std::max(reserved, InfoOf(mapped.get()).file_bytes);
  }
  CHECK(reserved > InfoOf(written.get()).size);
  mapped->EndAppends();
  CHECK(mapped->Seal(true).ok());
  Bytes one = ReadAll(PathOf(0) + ".log"), other = ReadAll(PathOf(1) + ".log");
  CHECK_EQ(one.size(), other.size());
  // Offsets differ by one; everything behind them is the same.
  for (const Stored& batch : ScanAll(PathOf(0) + ".log")) {
    CHECK(std::equal(one.begin() + batch.position + 8, one.begin() + batch.position + batch.size,
                     other.begin() + batch.position + 8));
  }
}

SEGMENT_TEST(What_was_copied_into_a_mapping_is_seen_by_reads_and_lookups_at_once) {
  auto segment = CreateSegment(0, Mapped());
  AppendUntilMapped(segment.get());
  BatchRange range, found;
  CHECK(AppendClient(segment.get(), {2, 77, 9999, 0, -1, 0, -1}, &range).ok());
  CHECK(segment->Locate(range.base_offset, 1, range.last_offset + 1, &found).ok());
  CHECK_EQ(found.position, range.position);
  CHECK_EQ(found.length, range.length);
  CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
}

SEGMENT_TEST(A_mapped_segment_that_is_dropped_like_by_a_kill_recovers_to_what_was_appended) {
  uint64_t size, next;
  {
    auto segment = CreateSegment(0, Mapped());
    AppendUntilMapped(segment.get());
    size = InfoOf(segment.get()).size;
    next = static_cast<uint64_t>(InfoOf(segment.get()).next_offset);
  }
  CHECK(SizeOf(PathOf() + ".log") > size);
  SegmentOptions options = Mapped();
  options.recover = true;
  SegmentReport report;
  auto segment = OpenSegment(options, &report);
  CHECK_EQ(report.scan.valid_end, size);
  CHECK_EQ(static_cast<uint64_t>(report.scan.next_offset), next);
  CHECK_CODE(Status::Of(report.scan.damage), Code::kOk);
  CHECK_EQ(SizeOf(PathOf() + ".log"), size);
}

SEGMENT_TEST(Where_no_space_can_be_reserved_appends_are_writes_until_there_is_none_at_all) {
  std::atomic<bool> full{false};
  const Faults faults([&](File::Act act, const std::string&, size_t* length) {
    if (act == File::Act::kReserve)
      return ENOSPC;
    if (act != File::Act::kWrite || !full)
      return 0;
    *length = 10;
    return ENOSPC;
  });
  auto segment = CreateSegment(0, Mapped());
  for (int i = 0; i < 100; i++) {
    CHECK(AppendClient(segment.get(), {1, 2000, 1, 0, -1, 0, -1}).ok());
    HelperIdle();
  }
  full = true;
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kNoSpace);
  full = false;
  CHECK(AppendClient(segment.get(), {}).ok());
  CHECK_EQ(SizeOf(PathOf() + ".log"), InfoOf(segment.get()).size);
}

SEGMENT_TEST(A_truncation_takes_the_mapping_down_and_appends_are_mapped_again_afterwards) {
  auto segment = CreateSegment(0, Mapped());
  AppendUntilMapped(segment.get());
  CHECK(segment->Truncate(3).ok());
  CHECK_EQ(SizeOf(PathOf() + ".log"), InfoOf(segment.get()).size);
  AppendUntilMapped(segment.get());
  CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
}

SEGMENT_TEST(Space_is_reserved_and_nothing_mapped_for_batches_above_the_crossing_size) {
  auto segment = CreateSegment(0, Mapped());
  uint64_t file_bytes = 0;
  for (int i = 0; i < 100; i++) {
    CHECK(AppendClient(segment.get(), {1, 300000, 1, 0, -1, 0, -1}).ok());
    HelperIdle();
    file_bytes = InfoOf(segment.get()).file_bytes;
  }
  CHECK(file_bytes > InfoOf(segment.get()).size + (uint64_t{8} << 20));
  CHECK_EQ(Window::MappedBytes(), 0u);
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  CHECK_EQ(SizeOf(PathOf() + ".log"), InfoOf(segment.get()).size);
}

SEGMENT_TEST(A_log_that_is_flushed_often_is_not_mapped) {
  auto segment = CreateSegment(0, Mapped());
  for (int i = 0; i < 200; i++) {
    CHECK(AppendClient(segment.get(), {1, 30000, 1, 0, -1, 0, -1}).ok());
    if (i % 10 == 9)
      CHECK(segment->Flush().ok());
    HelperIdle();
    CHECK_EQ(Window::MappedBytes(), 0u);
  }
}

SEGMENT_TEST(Nothing_is_reserved_above_the_size_of_a_segment) {
  SegmentOptions options = Mapped();
  options.segment_bytes = 5000000;
  auto segment = CreateSegment(0, options);
  Status status;
  while (status.ok()) {
    status = AppendClient(segment.get(), {1, 20000, 1, 0, -1, 0, -1});
    HelperIdle();
    CHECK(InfoOf(segment.get()).file_bytes <= options.segment_bytes);
  }
  CHECK_CODE(status, Code::kSegmentFull);
}

SEGMENT_TEST(
    Appends_flushes_truncations_and_lookups_of_different_threads_do_not_disturb_each_other) {
  SegmentOptions options = Mapped();
  options.index_interval_bytes = 100;
  auto segment = CreateSegment(0, options);
  std::atomic<bool> ended{false};
  std::thread pool([&] {
    for (int round = 0; !ended; round++) {
      const int64_t next = InfoOf(segment.get()).next_offset;
      CHECK(round % 3 == 0 ? segment->Flush().ok() : segment->Truncate(next - 20).ok());
    }
  });
  std::thread reader([&] {
    BatchRange found;
    while (!ended) {
      const int64_t next = InfoOf(segment.get()).next_offset;
      const Status status = segment->Locate(next / 2, 100, next, &found);
      CHECK(status.ok() || status.code == Code::kOffsetOutOfRange);
    }
  });
  for (int i = 0; i < 4000; i++) {
    CHECK(AppendClient(segment.get(), {1, 300, i, 0, -1, 0, -1}).ok());
  }
  ended = true;
  pool.join();
  reader.join();
  CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
  segment->EndAppends();
  CHECK(segment->Seal(true).ok());
  CHECK_EQ(SizeOf(PathOf() + ".log"), InfoOf(segment.get()).size);
}

SEGMENT_TEST(The_next_segment_takes_the_file_that_was_made_ahead_and_one_that_is_not_used_goes) {
  const std::string spare = Directory() + "/spare.log.deleted";
  auto first = CreateSegment(0);
  CHECK(AppendClient(first.get(), {}).ok());
  first->PrepareSpare();
  first->PrepareSpare();
  HelperIdle();
  CHECK(Exists(spare));
  auto second = CreateSegment(1);
  CHECK(!Exists(spare));
  BatchRange range;
  CHECK(AppendClient(second.get(), {}, &range).ok());
  CHECK_EQ(range.base_offset, 1);
  CHECK_EQ(ScanAll(PathOf(1) + ".log").size(), 1u);
  second->EndAppends();
  CHECK(second->Seal(true).ok());
  CHECK(Exists(PathOf(1) + ".index"));
  auto third = CreateSegment(2);
  WriteAll(spare, Bytes(100, 1)); // as a crash leaves one
  third->PrepareSpare();
  HelperIdle();
  CHECK_EQ(SizeOf(spare), 0u);
  std::shared_ptr<Segment> taken;
  CHECK_CODE(Segment::Create(PathOf(2), 2, Options(), &taken), Code::kExists);
  third->EndAppends();
  CHECK(third->Seal(false).ok());
  CHECK(!Exists(spare));
}

SEGMENT_TEST(A_segment_that_is_three_quarters_full_has_the_next_one_made) {
  SegmentOptions options = Options();
  options.segment_bytes = 1 << 20;
  auto segment = CreateSegment(0, options);
  for (int i = 0; i < 7; i++)
    CHECK(AppendClient(segment.get(), {1, 100000, 1, 0, -1, 0, -1}).ok());
  HelperIdle();
  CHECK(!Exists(Directory() + "/spare.log.deleted"));
  CHECK(AppendClient(segment.get(), {1, 100000, 1, 0, -1, 0, -1}).ok());
  HelperIdle();
  CHECK(Exists(Directory() + "/spare.log.deleted"));
}
