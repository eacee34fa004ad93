// Opening: torn tails, zeros, damaged indexes, foreign formats.
#include "../../native/crc32.h"
#include "support.h"

#include <algorithm>
#include <random>

using namespace seglog;
using namespace seglog::test;

namespace {

constexpr int kBatches = 10;

SegmentOptions Recovering() {
  SegmentOptions options = Options();
  options.recover = true;
  return options;
}

SegmentOptions SmallInterval() {
  SegmentOptions options = Options();
  options.index_interval_bytes = 300;
  return options;
}

Bytes TenBatches(std::vector<Stored>* stored) {
  auto segment = CreateSegment();
  for (int i = 0; i < kBatches; i++)
    CHECK(AppendClient(segment.get(), {}).ok());
  *stored = ScanAll(PathOf() + ".log");
  return ReadAll(PathOf() + ".log");
}

// Opens a torn log, appends one, opens again: nothing is in the way of the new batch.
void CheckTorn(uint64_t valid_bytes, bool damaged) {
  SegmentReport report;
  auto segment = OpenSegment(Recovering(), &report);
  CHECK_EQ(report.scan.next_offset, kBatches - 1);
  CHECK_EQ(report.scan.valid_end, valid_bytes);
  CHECK_EQ(report.scan.damage != Code::kOk, damaged);
  CHECK_EQ(SizeOf(PathOf() + ".log"), valid_bytes);
  BatchRange range;
  CHECK(AppendClient(segment.get(), {}, &range).ok());
  CHECK_EQ(range.base_offset, kBatches - 1);
  segment = OpenSegment(Recovering(), &report);
  CHECK_EQ(report.scan.next_offset, kBatches);
  CHECK_CODE(Status::Of(report.scan.damage), Code::kOk);
  CHECK_EQ(report.scan.valid_end, SizeOf(PathOf() + ".log"));
  CHECK_EQ(ScanAll(PathOf() + ".log").size(), static_cast<size_t>(kBatches));
}

} // namespace

SEGMENT_TEST(A_log_cut_at_any_byte_of_its_last_batch_loses_that_batch_alone_and_the_tail_is_cut) {
  std::vector<Stored> stored;
  const Bytes whole = TenBatches(&stored);
  const Stored& last = stored.back();
  for (uint64_t k = 0; k < last.size; k++) {
    WriteAll(PathOf() + ".log", Bytes(whole.begin(), whole.begin() + last.position + k));
    // The offset begins with zeros, which alone look like a reserved tail.
    const auto first = whole.begin() + last.position;
    CheckTorn(last.position, std::any_of(first, first + k, [](uint8_t byte) { return byte != 0; }));
  }
}

SEGMENT_TEST(A_log_with_zeros_from_any_byte_of_its_last_batch_on_loses_that_batch_alone) {
  std::vector<Stored> stored;
  const Bytes whole = TenBatches(&stored);
  const Stored& last = stored.back();
  for (uint64_t k = 0; k < last.size; k++) {
    Bytes zeroed = whole;
    std::fill(zeroed.begin() + last.position + k, zeroed.end(), 0);
    if (zeroed == whole)
      continue; // the last byte of a record without headers is zero
    // Up to the first byte that is not zero the rest looks like a reserved tail.
    const bool only_zeros = std::all_of(zeroed.begin() + last.position, zeroed.end(),
                                        [](uint8_t byte) { return byte == 0; });
    WriteAll(PathOf() + ".log", zeroed);
    CheckTorn(last.position, !only_zeros);
  }
}

SEGMENT_TEST(A_reserved_tail_of_zeros_is_no_damage_with_and_without_recovery) {
  for (const bool recover : {true, false}) {
    std::vector<Stored> stored;
    Remove(PathOf() + ".log");
    Bytes bytes = TenBatches(&stored);
    const uint64_t valid = bytes.size();
    bytes.resize(bytes.size() + (1 << 20));
    WriteAll(PathOf() + ".log", bytes);
    SegmentOptions options = Options();
    options.recover = recover;
    SegmentReport report;
    auto segment = OpenSegment(options, &report);
    CHECK_EQ(report.scan.next_offset, kBatches);
    CHECK_EQ(report.scan.valid_end, valid);
    CHECK_EQ(report.file_bytes, bytes.size());
    CHECK_CODE(Status::Of(report.scan.damage), Code::kOk);
    CHECK(AppendClient(segment.get(), {}).ok());
    CHECK_EQ(ScanAll(PathOf() + ".log").size(), static_cast<size_t>(kBatches + 1));
  }
}

SEGMENT_TEST(A_batch_whose_CRC_is_0_is_a_batch_like_any_other_and_so_is_its_successor) {
  // The sum is linear: the value that makes it 0 is found bit by bit in a field that is free.
  BatchSpec spec;
  Bytes batch = MakeBatchOf(spec, MakeRecord(0, 40));
  const auto sum_with = [&](uint32_t value) {
    StoreBig<uint32_t>(batch.data() + format::kHeaderBytes + 12, value);
    return Crc32c(batch.data() + format::kAttributes, batch.size() - format::kAttributes, 0);
  };
  const uint32_t base = sum_with(0);
  uint32_t rows[32], values[32];
  for (int i = 0; i < 32; i++) {
    values[i] = 1u << i;
    rows[i] = sum_with(values[i]) ^ base;
  }
  uint32_t target = base, answer = 0;
  for (int bit = 31; bit >= 0; bit--) {
    for (int i = 0; i < 32; i++) {
      if ((rows[i] >> bit) != 1)
        continue;
      for (int j = 0; j < 32; j++) {
        if (j != i && (rows[j] >> bit & 1) != 0)
          rows[j] ^= rows[i], values[j] ^= values[i];
      }
      if ((target >> bit & 1) != 0)
        target ^= rows[i], answer ^= values[i];
      rows[i] = 0;
      break;
    }
  }
  CHECK_EQ(sum_with(answer), 0u);
  StoreBig<uint32_t>(batch.data() + format::kCrc, 0);
  auto segment = CreateSegment();
  CHECK(AppendLeader(segment.get(), batch).ok());
  CHECK(AppendClient(segment.get(), {}).ok());
  SegmentReport report;
  segment = OpenSegment(Recovering(), &report);
  CHECK_EQ(report.scan.next_offset, 2);
}

SEGMENT_TEST(Recovery_checks_a_batch_that_is_larger_than_its_buffer_and_finds_its_damage) {
  auto segment = CreateSegment();
  CHECK(AppendClient(segment.get(), {1, 3 << 20, 5, 0, -1, 0, -1}).ok());
  CHECK(AppendClient(segment.get(), {}).ok());
  SegmentReport report;
  segment = OpenSegment(Recovering(), &report);
  CHECK_EQ(report.scan.next_offset, 2);
  Bytes bytes = ReadAll(PathOf() + ".log");
  bytes[2 << 20] ^= 1;
  WriteAll(PathOf() + ".log", bytes);
  SegmentOptions options = Recovering();
  options.read_only = true;
  segment = OpenSegment(options, &report);
  CHECK_EQ(report.scan.valid_end, 0u);
  CHECK_CODE(Status::Of(report.scan.damage), Code::kCorrupt);
  CHECK_EQ(SizeOf(PathOf() + ".log"), bytes.size());
}

SEGMENT_TEST(Without_recovery_damage_is_reported_and_kept_and_the_segment_takes_no_appends) {
  std::vector<Stored> stored;
  Bytes bytes = TenBatches(&stored);
  bytes[stored[8].position + format::kMagic] = 77;
  WriteAll(PathOf() + ".log", bytes);
  SegmentReport report;
  auto segment = OpenSegment(Options(), &report);
  CHECK_EQ(report.scan.next_offset, 8);
  CHECK_CODE(Status::Of(report.scan.damage), Code::kBadMagic);
  CHECK_CODE(AppendClient(segment.get(), {}), Code::kFenced);
  BatchRange found;
  CHECK(segment->Locate(7, 1, 100, &found).ok());
  CHECK_CODE(segment->Locate(8, 1, 100, &found), Code::kBadMagic);
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  CHECK(ReadAll(PathOf() + ".log") == bytes);
  segment = OpenSegment(Options(), &report);
  CHECK(segment->Truncate(8).ok());
  CHECK(AppendClient(segment.get(), {}).ok());
  CHECK_EQ(ScanAll(PathOf() + ".log").size(), 9u);
}

SEGMENT_TEST(A_damaged_index_never_fails_an_open_and_every_lookup_is_what_a_scan_says) {
  SegmentOptions options = SmallInterval();
  auto segment = CreateSegment(0, options);
  for (int i = 0; i < 120; i++) {
    BatchSpec spec;
    spec.records = 1 + i % 4;
    spec.timestamp = 5000 + (i * 53) % 211;
    CHECK(AppendClient(segment.get(), spec).ok());
  }
  const int64_t max = InfoOf(segment.get()).max_timestamp;
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  const auto stored = ScanAll(PathOf() + ".log");
  std::mt19937 random(20240229);
  const std::function<void(Bytes*, size_t)> damages[] = {
      [](Bytes* bytes, size_t) { bytes->clear(); },
      [](Bytes* bytes, size_t) { bytes->resize(bytes->size() - 3); },
      [&](Bytes* bytes, size_t) {
        for (uint8_t& byte : *bytes)
          byte = static_cast<uint8_t>(random());
      },
      [](Bytes* bytes, size_t) { std::fill(bytes->begin(), bytes->end(), 0); },
      [](Bytes* bytes, size_t width) {
        std::swap_ranges(bytes->begin() + width, bytes->begin() + 2 * width,
                         bytes->begin() + 2 * width);
      },
      [](Bytes* bytes, size_t width) { // the last four bytes: a position or an offset
        std::fill(bytes->begin() + 2 * width - 4, bytes->begin() + 2 * width, 0x7f);
      },
      [](Bytes* bytes, size_t width) { bytes->resize(bytes->size() + width); },
  };
  for (const auto& [ending, width] : {std::pair(".index", 8), std::pair(".timeindex", 12)}) {
    const Bytes whole = ReadAll(PathOf() + ending);
    for (size_t damage = 0; damage <= std::size(damages); damage++) {
      for (const bool read_only : {true, false}) {
        Bytes bytes = whole;
        if (damage < std::size(damages)) {
          damages[damage](&bytes, static_cast<size_t>(width));
          WriteAll(PathOf() + ending, bytes);
        } else {
          Remove(PathOf() + ending);
        }
        options.read_only = read_only;
        SegmentReport report;
        segment = OpenSegment(options, &report);
        CHECK(report.index_rebuilt);
        CHECK_EQ(report.scan.next_offset, stored.back().last_offset + 1);
        CHECK_EQ(InfoOf(segment.get()).max_timestamp, max);
        CheckLookups(segment.get(), stored);
        segment->EndAppends();
        CHECK(segment->Seal(false).ok());
      }
      CHECK(ReadAll(PathOf() + ending) == whole);
    }
  }
}

SEGMENT_TEST(A_wrong_entry_in_the_middle_of_an_index_is_noticed_by_the_lookup_that_meets_it) {
  auto segment = CreateSegment(0, SmallInterval());
  for (int i = 0; i < 100; i++)
    CHECK(AppendClient(segment.get(), {}).ok());
  segment->EndAppends();
  CHECK(segment->Seal(false).ok());
  Bytes bytes = ReadAll(PathOf() + ".index");
  const size_t middle = bytes.size() / 16 * 8;
  const auto position = LoadBig<uint32_t>(bytes.data() + middle + 4);
  StoreBig<uint32_t>(bytes.data() + middle + 4, position + 1); // still monotone
  WriteAll(PathOf() + ".index", bytes);
  SegmentReport report;
  segment = OpenSegment(SmallInterval(), &report);
  CheckLookups(segment.get(), ScanAll(PathOf() + ".log"));
}

SEGMENT_TEST(An_empty_segment_opens_with_recovery_and_without_and_with_no_index_at_all) {
  for (const bool recover : {true, false}) {
    {
      auto segment = CreateSegment(33);
    }
    Remove(PathOf(33) + ".index");
    SegmentOptions options = Options();
    options.recover = recover;
    SegmentReport report;
    auto segment = OpenSegment(options, &report, 33);
    CHECK_EQ(report.scan.next_offset, 33);
    CHECK(Exists(PathOf(33) + ".index"));
    CHECK(AppendClient(segment.get(), {}).ok());
    Remove(PathOf(33) + ".log");
  }
}

SEGMENT_TEST(A_segment_that_is_not_there_or_no_descriptor_for_it_is_an_error_with_a_code) {
  std::shared_ptr<Segment> segment;
  SegmentReport report;
  CHECK_CODE(Segment::Open(PathOf(), 0, Options(), &segment, &report), Code::kNotFound);
  {
    auto made = CreateSegment();
  }
  {
    const Faults none([](File::Act act, const std::string&, size_t*) {
      return act == File::Act::kOpen ? EMFILE : 0;
    });
    CHECK_CODE(Segment::Open(PathOf(), 0, Options(), &segment, &report), Code::kTooManyFiles);
  }
  CHECK(Segment::Open(PathOf(), 0, Options(), &segment, &report).ok());
}

SEGMENT_TEST(Any_bytes_at_all_open_without_a_crash) {
  std::mt19937 random(7);
  std::vector<Stored> stored;
  const Bytes whole = TenBatches(&stored);
  for (int round = 0; round < 500; round++) {
    Bytes bytes = whole;
    for (int flips = 0; flips < 4; flips++) {
      bytes[random() % bytes.size()] = static_cast<uint8_t>(random());
    }
    WriteAll(PathOf() + ".log", bytes);
    SegmentOptions options = Options();
    options.recover = round % 2 == 0;
    options.read_only = true;
    SegmentReport report;
    auto segment = OpenSegment(options, &report);
    BatchRange found;
    for (int64_t offset = 0; offset < kBatches; offset++) {
      (void)segment->Locate(offset, 100, kBatches, &found);
      (void)segment->LocateTimestamp(1000, &found);
    }
    CHECK(ReadAll(PathOf() + ".log") == bytes);
  }
}
