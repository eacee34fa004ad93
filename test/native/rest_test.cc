// Segments at rest: opened by one look at a size, few descriptors, indexes that come and go.
#include "support.h"

#include <cerrno>
#include <filesystem>
#include <limits>
#include <random>

using namespace seglog;
using namespace seglog::test;

namespace {

constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

SegmentOptions Trusted(int64_t next_offset) {
  SegmentOptions options = Options();
  options.index_interval_bytes = 200;
  options.trusted_next_offset = next_offset;
  return options;
}

// A sealed segment of `batches` batches of one record, their timestamps up and down.
std::vector<Stored> Sealed(int64_t base_offset, int batches) {
  auto segment = CreateSegment(base_offset, Trusted(-1));
  for (int i = 0; i < batches; i++)
    CHECK(AppendClient(segment.get(), {1, 10, 1000 + i * 37 % 101, 0, -1, 0, -1}).ok());
  segment->EndAppends();
  CHECK(segment->Seal(true).ok());
  return ScanAll(PathOf(base_offset) + ".log");
}

size_t OpenDescriptors() {
  size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code error;
    const auto target = std::filesystem::read_symlink(entry.path(), error);
    count += target.string().find(Directory()) == 0;
  }
  return count;
}

// Puts the default back, whatever a test does.
struct FilesMax {
  explicit FilesMax(size_t count) { Residents::SetFilesMax(count); }
  ~FilesMax() { Residents::SetFilesMax(Residents::kFilesMaxDefault); }
};

} // namespace

SEGMENT_TEST(A_trusted_segment_is_opened_without_a_descriptor_and_reads_nothing) {
  Sealed(0, 100);
  int acts = 0;
  SegmentReport report;
  std::shared_ptr<Segment> segment;
  {
    const Faults count([&](File::Act act, const std::string& path, size_t*) {
      acts += act == File::Act::kRead || path.find("index") != std::string::npos;
      return 0;
    });
    segment = OpenSegment(Trusted(100), &report);
    CHECK_EQ(acts, 0);
    CHECK_EQ(OpenDescriptors(), 0u);
  }
  CHECK_EQ(report.scan.next_offset, 100);
  CHECK_EQ(report.scan.valid_end, SizeOf(PathOf() + ".log"));
  SegmentInfo state;
  segment->State(&state);
  CHECK_EQ(state.max_timestamp, kUnknownTimestamp);
  CHECK_EQ(InfoOf(segment.get()).max_timestamp, 1100);
  CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
}

SEGMENT_TEST(A_trusted_segment_whose_indexes_are_spoilt_finds_what_a_scan_finds) {
  const auto stored = Sealed(0, 120);
  std::mt19937 random(7);
  for (const char* ending : {".index", ".timeindex"}) {
    const Bytes whole = ReadAll(PathOf() + ending);
    for (int round = 0; round < 60; round++) {
      Bytes bytes = whole;
      if (round % 3 == 0)
        bytes.resize(random() % bytes.size());
      else
        bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
      WriteAll(PathOf() + ending, bytes);
      SegmentReport report;
      auto segment = OpenSegment(Trusted(120), &report);
      CheckLookups(segment.get(), stored);
      CHECK_EQ(InfoOf(segment.get()).max_timestamp, 1100);
      WriteAll(PathOf() + ending, whole);
    }
    Remove(PathOf() + ending);
    SegmentReport report;
    auto segment = OpenSegment(Trusted(120), &report);
    CheckLookups(segment.get(), stored);
    CHECK(ReadAll(PathOf() + ending) == whole); // made anew
  }
}

SEGMENT_TEST(A_time_entry_that_names_a_later_batch_is_noticed_by_the_lookup_that_goes_by_it) {
  auto segment = CreateSegment(0, Trusted(-1));
  for (int i = 0; i < 60; i++)
    CHECK(AppendClient(segment.get(), {1, 10, 1000 + i, 0, -1, 0, -1}).ok());
  segment->EndAppends();
  CHECK(segment->Seal(true).ok());
  const auto stored = ScanAll(PathOf() + ".log");
  const Bytes whole = ReadAll(PathOf() + ".timeindex");
  for (size_t at = 0; at + 12 < whole.size(); at += 12) {
    Bytes bytes = whole;
    // As high as it can be without being out of order.
    const auto next = LoadBig<uint32_t>(bytes.data() + at + 12 + 8);
    StoreBig<uint32_t>(bytes.data() + at + 8, next - 1);
    WriteAll(PathOf() + ".timeindex", bytes);
    SegmentReport report;
    CheckLookups(OpenSegment(Trusted(60), &report).get(), stored);
  }
}

SEGMENT_TEST(Many_sealed_segments_are_read_at_random_through_few_descriptors) {
  const FilesMax few(5);
  std::vector<std::shared_ptr<Segment>> segments;
  SegmentReport report;
  for (int64_t i = 0; i < 60; i++) {
    Sealed(i * 10, 10);
    segments.push_back(OpenSegment(Trusted(i * 10 + 10), &report, i * 10));
  }
  std::mt19937 random(3);
  for (int round = 0; round < 600; round++) {
    const auto offset = static_cast<int64_t>(random() % 600);
    BatchRange found;
    CHECK(segments[static_cast<size_t>(offset / 10)]->Locate(offset, 1, kNoLimit, &found).ok());
    CHECK_EQ(found.base_offset, offset);
    CHECK(Residents::files() <= 5);
    CHECK(OpenDescriptors() <= 5);
  }
}

SEGMENT_TEST(Without_a_descriptor_left_a_lookup_fails_with_a_code_and_works_later) {
  Sealed(0, 10);
  SegmentReport report;
  auto segment = OpenSegment(Trusted(10), &report);
  BatchRange found;
  {
    const Faults none([](File::Act act, const std::string&, size_t*) {
      return act == File::Act::kOpen ? EMFILE : 0;
    });
    CHECK_CODE(segment->Locate(3, 1, kNoLimit, &found), Code::kTooManyFiles);
  }
  CHECK(segment->Locate(3, 1, kNoLimit, &found).ok());
}

SEGMENT_TEST(Descriptors_that_are_not_in_use_make_room_for_the_one_that_is_needed) {
  Sealed(0, 10);
  Sealed(10, 10);
  SegmentReport report;
  auto first = OpenSegment(Trusted(10), &report), second = OpenSegment(Trusted(20), &report, 10);
  BatchRange found;
  CHECK(first->Locate(3, 1, kNoLimit, &found).ok());
  CHECK_EQ(OpenDescriptors(), 1u);
  bool failed = false;
  const Faults once([&](File::Act act, const std::string&, size_t*) {
    if (act != File::Act::kOpen || failed)
      return 0;
    failed = true;
    return EMFILE;
  });
  CHECK(second->Locate(13, 1, kNoLimit, &found).ok());
  CHECK_EQ(OpenDescriptors(), 1u);
}

SEGMENT_TEST(A_sealed_segment_takes_appends_again_after_a_truncation_and_its_values_follow) {
  const auto stored = Sealed(0, 100);
  for (const int64_t cut : {int64_t{100}, int64_t{57}, int64_t{0}}) {
    SegmentReport report;
    auto segment = OpenSegment(Trusted(100), &report);
    CHECK_CODE(AppendClient(segment.get(), {}), Code::kReadOnly);
    CHECK(segment->Truncate(cut).ok());
    int64_t max = -1;
    for (const Stored& batch : stored)
      max = batch.last_offset < cut ? std::max(max, batch.max_timestamp) : max;
    CHECK_EQ(InfoOf(segment.get()).max_timestamp, max);
    CHECK_EQ(InfoOf(segment.get()).next_offset, cut);
    for (int64_t i = cut; i < 100; i++)
      CHECK(AppendClient(segment.get(), {1, 10, 1000 + i * 37 % 101, 0, -1, 0, -1}).ok());
    Residents::LeaveAllBut(nullptr); // an active segment keeps what it has
    CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
    segment->EndAppends();
    CHECK(segment->Seal(true).ok());
    CHECK_EQ(ScanAll(PathOf() + ".log").size(), 100u);
  }
}

SEGMENT_TEST(A_seal_that_comes_behind_a_truncation_does_not_end_the_appends_again) {
  auto segment = CreateSegment();
  CHECK(AppendClient(segment.get(), {}).ok());
  segment->EndAppends();
  CHECK(segment->Truncate(1).ok());
  CHECK(segment->Seal(true).ok());
  CHECK(AppendClient(segment.get(), {}).ok());
}

SEGMENT_TEST(A_deleted_segment_leaves_no_file_and_who_holds_its_file_reads_on) {
  Sealed(0, 10);
  SegmentReport report;
  auto segment = OpenSegment(Trusted(10), &report);
  std::shared_ptr<File> held;
  CHECK(segment->UseFile(&held).ok());
  segment->EndAppends();
  CHECK(segment->Delete().ok());
  CHECK(std::filesystem::is_empty(Directory()));
  uint8_t byte;
  size_t read;
  CHECK(held->Read(0, &byte, 1, &read).ok());
  CHECK_EQ(read, 1u);
  BatchRange found;
  CHECK_CODE(segment->Locate(3, 1, kNoLimit, &found), Code::kClosed);
}

SEGMENT_TEST(A_renamed_or_moved_segment_is_found_under_its_new_name) {
  const auto stored = Sealed(0, 50);
  SegmentReport report;
  auto segment = OpenSegment(Trusted(50), &report);
  CHECK(segment->Rename(".deleted").ok());
  CHECK(Exists(PathOf() + ".log.deleted"));
  CHECK(Exists(PathOf() + ".timeindex.deleted"));
  CheckLookups(segment.get(), stored);
  Residents::LeaveAllBut(nullptr);
  CheckLookups(segment.get(), stored);
  CHECK(segment->Rename("").ok());
  std::filesystem::create_directory(Directory() + "/elsewhere");
  const std::string path = Directory() + "/elsewhere/00000000000000000000";
  for (const char* ending : {".log", ".index", ".timeindex"})
    std::filesystem::rename(PathOf() + ending, path + ending);
  segment->Moved(path);
  Residents::LeaveAllBut(nullptr);
  CheckLookups(segment.get(), stored);
  segment->EndAppends();
  CHECK(segment->Delete().ok());
  CHECK(std::filesystem::is_empty(Directory() + "/elsewhere"));
}
