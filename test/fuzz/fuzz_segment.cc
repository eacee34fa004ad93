// Damaged files: opening a segment never fails for what is in them, keeps what stands before the
// damage, and answers lookups as a scan of what is kept would, whatever the indexes say.
#include "fuzz.h"

#include <algorithm>

using namespace seglog;
using namespace seglog::test;

static SegmentOptions Small() {
  SegmentOptions options;
  options.segment_bytes = 1 << 20;
  options.index_interval_bytes = 200;
  return options;
}

// A closed segment of some batches, times rising on the whole. Returns what it holds.
static std::vector<Stored> WriteSegment(Random* random) {
  for (const char* ending : {".log", ".index", ".timeindex"})
    Remove(PathOf() + ending);
  const auto segment = CreateSegment(0, Small());
  const uint64_t batches = 1 + random->Below(30);
  for (uint64_t i = 0; i < batches; i++) {
    BatchSpec spec;
    spec.records = 1 + static_cast<int32_t>(random->Below(3));
    spec.value_bytes = random->Below(80);
    spec.timestamp = static_cast<int64_t>(1000 + i * 10 + random->Below(40));
    CHECK(AppendClient(segment.get(), spec).ok());
  }
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  return ScanAll(PathOf() + ".log");
}

// The batches that lie wholly below `position`.
static std::vector<Stored> Below(const std::vector<Stored>& stored, uint64_t position) {
  std::vector<Stored> whole;
  for (const Stored& batch : stored) {
    if (batch.position + batch.size <= position)
      whole.push_back(batch);
  }
  return whole;
}

static void LookAround(Segment* segment, Random* random) {
  BatchRange found;
  for (int i = 0; i < 5; i++) {
    (void)segment->Locate(Interesting(random), random->Below(1000), Interesting(random), &found);
    (void)segment->Locate(static_cast<int64_t>(random->Below(60)), 1, INT64_MAX, &found);
    (void)segment->LocateTimestamp(Interesting(random), &found);
    (void)segment->LocateTimestamp(static_cast<int64_t>(1000 + random->Below(400)), &found);
  }
}

SEGMENT_TEST(Fuzz_A_recovery_of_any_log_file_keeps_what_stands_before_the_damage) {
  Fuzz("recovery", 200, [&](Random* random) {
    const std::vector<Stored> stored = WriteSegment(random);
    Bytes log = ReadAll(PathOf() + ".log");
    const size_t damaged_from = Mutate(random, &log);
    WriteAll(PathOf() + ".log", log);
    SegmentOptions options = Small();
    options.recover = true;
    SegmentReport report;
    {
      const auto segment = OpenSegment(options, &report);
      const std::vector<Stored> kept = Below(stored, damaged_from);
      const uint64_t least = kept.empty() ? 0 : kept.back().position + kept.back().size;
      CHECK(report.scan.valid_end >= least);
      CHECK(report.scan.valid_end <= log.size());
      if (report.scan.damage == Code::kOk || SizeOf(PathOf() + ".log") == report.scan.valid_end)
        CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
      LookAround(segment.get(), random);
      segment->EndAppends();
      CHECK(segment->Seal(false).ok());
    }
    SegmentReport again;
    const auto segment = OpenSegment(options, &again);
    CHECK_EQ(again.scan.valid_end, report.scan.valid_end);
    CHECK_EQ(again.scan.next_offset, report.scan.next_offset);
  });
}

SEGMENT_TEST(Fuzz_A_trusted_log_file_of_any_bytes_opens_and_reads_without_a_crash) {
  Fuzz("trusted", 200, [&](Random* random) {
    (void)WriteSegment(random);
    for (const char* ending : {".log", ".index", ".timeindex"}) {
      Bytes bytes = ReadAll(PathOf() + ending);
      if (random->Chance(60))
        Mutate(random, &bytes);
      WriteAll(PathOf() + ending, bytes);
    }
    SegmentOptions options = Small();
    options.read_only = random->Chance(50);
    SegmentReport report;
    const auto segment = OpenSegment(options, &report);
    LookAround(segment.get(), random);
    (void)segment->Truncate(static_cast<int64_t>(random->Below(60)));
    LookAround(segment.get(), random);
    BatchSpec spec;
    (void)AppendClient(segment.get(), spec);
    LookAround(segment.get(), random);
  });
}

SEGMENT_TEST(Fuzz_Indexes_of_any_bytes_change_no_answer) {
  Fuzz("indexes", 100, [&](Random* random) {
    const std::vector<Stored> stored = WriteSegment(random);
    const char* hit = random->Chance(50) ? ".index" : ".timeindex";
    Bytes index = ReadAll(PathOf() + hit);
    Mutate(random, &index);
    WriteAll(PathOf() + hit, index);
    SegmentOptions options = Small();
    options.read_only = random->Chance(50);
    SegmentReport report;
    const auto segment = OpenSegment(options, &report);
    CHECK_EQ(report.scan.valid_end, stored.back().position + stored.back().size);
    CheckLookups(segment.get(), stored);
  });
}
