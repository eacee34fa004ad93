// Logs that hold messages of magic 0 and 1, alone and between batches.
#include "../../native/crc32.h"
#include "support.h"

using namespace seglog;
using namespace seglog::test;

namespace {

struct Message {
  int64_t offset;
  int8_t magic = 0;
  int8_t attributes = 0;
  int64_t timestamp = -1;
  size_t value_bytes = 10;
};

Bytes MakeMessage(const Message& message) {
  const size_t head = message.magic == 0 ? 18 : 26;
  Bytes bytes(head + 8 + message.value_bytes, 'v');
  StoreBig<int64_t>(bytes.data(), message.offset);
  StoreBig<int32_t>(bytes.data() + 8, static_cast<int32_t>(bytes.size() - 12));
  bytes[16] = static_cast<uint8_t>(message.magic);
  bytes[17] = static_cast<uint8_t>(message.attributes);
  if (message.magic == 1)
    StoreBig<int64_t>(bytes.data() + 18, message.timestamp);
  StoreBig<int32_t>(bytes.data() + head, -1);
  StoreBig<int32_t>(bytes.data() + head + 4, static_cast<int32_t>(message.value_bytes));
  StoreBig<uint32_t>(bytes.data() + 12, Crc32(bytes.data() + 16, bytes.size() - 16, 0));
  return bytes;
}

void Append(Bytes* log, const Bytes& bytes) {
  log->insert(log->end(), bytes.begin(), bytes.end());
}

// Plain messages, wrappers that skip offsets, and a batch at the end: offsets up to 31.
Bytes MixedLog() {
  Bytes log;
  for (int64_t offset = 0; offset < 10; offset++)
    Append(&log, MakeMessage({offset}));
  for (int64_t offset = 12; offset < 21; offset += 3)
    Append(&log, MakeMessage({offset, 0, 1, -1, 40}));
  for (int64_t offset = 21; offset < 30; offset++)
    Append(&log, MakeMessage({offset, 1, 8, 1000 + offset}));
  BatchSpec spec;
  spec.records = 2;
  spec.base_offset = 30;
  spec.timestamp = 5000;
  Append(&log, MakeBatch(spec));
  return log;
}

SegmentOptions Recover() {
  SegmentOptions options = Options();
  options.recover = true;
  options.index_interval_bytes = 64;
  return options;
}

std::shared_ptr<Segment> OpenLog(const Bytes& log, const SegmentOptions& options,
                                 SegmentReport* report) {
  WriteAll(PathOf() + ".log", log);
  Remove(PathOf() + ".index");
  Remove(PathOf() + ".timeindex");
  return OpenSegment(options, report);
}

} // namespace

SEGMENT_TEST(A_recovery_believes_old_messages_and_appends_behind_them) {
  const Bytes log = MixedLog();
  SegmentReport report;
  auto segment = OpenLog(log, Recover(), &report);
  CHECK_CODE(Status::Of(report.scan.damage), Code::kOk);
  CHECK_EQ(report.scan.valid_end, log.size());
  CHECK_EQ(InfoOf(segment.get()).next_offset, int64_t{32});
  CHECK_EQ(InfoOf(segment.get()).max_timestamp, int64_t{5000});
  CHECK(AppendClient(segment.get(), {}).ok());
  CHECK_EQ(InfoOf(segment.get()).next_offset, int64_t{33});
}

SEGMENT_TEST(Every_offset_leads_to_the_first_message_at_or_above_it) {
  for (const bool recover : {true, false}) {
    SegmentOptions options = Recover();
    options.recover = recover;
    SegmentReport report;
    auto segment = OpenLog(MixedLog(), options, &report);
    for (int64_t offset = 0; offset < 30; offset++) {
      BatchRange found;
      CHECK(segment->Locate(offset, 1, INT64_MAX, &found).ok());
      const int64_t last = offset < 10 ? offset : offset < 19 ? (offset + 2) / 3 * 3 : offset;
      const int64_t expected = offset == 19 || offset == 20 ? 21 : std::max<int64_t>(last, offset);
      CHECK_EQ(found.last_offset, offset == 10 || offset == 11 ? 12 : expected);
    }
  }
}

SEGMENT_TEST(A_timestamp_leads_to_the_first_message_of_magic_1_that_reaches_it) {
  SegmentReport report;
  auto segment = OpenLog(MixedLog(), Recover(), &report);
  BatchRange found;
  CHECK(segment->LocateTimestamp(1, &found).ok());
  CHECK_EQ(found.last_offset, int64_t{21});
  CHECK(segment->LocateTimestamp(1025, &found).ok());
  CHECK_EQ(found.last_offset, int64_t{25});
  CHECK(segment->LocateTimestamp(1030, &found).ok());
  CHECK_EQ(found.last_offset, int64_t{31});
  CHECK_CODE(segment->LocateTimestamp(5001, &found), Code::kNotFound);
}

SEGMENT_TEST(A_torn_message_is_cut_at_whichever_byte_it_ends) {
  Bytes whole;
  for (int64_t offset = 0; offset < 3; offset++)
    Append(&whole, MakeMessage({offset, 1, 0, 77}));
  const size_t size = whole.size() / 3;
  for (size_t kept = 0; kept < size; kept++) {
    for (const bool zeros : {false, true}) {
      Bytes log(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(2 * size + kept));
      if (zeros)
        log.resize(3 * size);
      SegmentReport report;
      auto segment = OpenLog(log, Recover(), &report);
      CHECK_EQ(InfoOf(segment.get()).next_offset, int64_t{2});
      CHECK_EQ(SizeOf(PathOf() + ".log"), 2 * size);
    }
  }
}

SEGMENT_TEST(A_message_with_a_flipped_bit_ends_a_recovery) {
  Bytes log;
  for (int64_t offset = 0; offset < 3; offset++)
    Append(&log, MakeMessage({offset}));
  log.back() ^= 1;
  SegmentReport report;
  auto segment = OpenLog(log, Recover(), &report);
  CHECK_CODE(Status::Of(report.scan.damage), Code::kCorrupt);
  CHECK_EQ(InfoOf(segment.get()).next_offset, int64_t{2});
}

SEGMENT_TEST(A_truncation_inside_a_wrapper_takes_it_whole_and_goes_on_at_the_offset) {
  for (const int64_t offset : {5, 13, 14, 15, 25, 31}) {
    SegmentReport report;
    auto segment = OpenLog(MixedLog(), Recover(), &report);
    CHECK(segment->Truncate(offset).ok());
    const int64_t next = InfoOf(segment.get()).next_offset;
    CHECK_EQ(next, offset == 31 ? int64_t{30} : offset);
    for (const Stored& stored : ScanAll(PathOf() + ".log"))
      CHECK(stored.last_offset < offset);
    CHECK(AppendClient(segment.get(), {}).ok());
  }
}

SEGMENT_TEST(Messages_from_a_client_are_not_appended_as_they_are) {
  auto segment = CreateSegment();
  Bytes message = MakeMessage({0, 1, 0, 5, 80});
  BatchRange range;
  int32_t record;
  const Status status =
      segment->Append(message.data(), message.size(), Segment::Source::kClient, 0, &range, &record);
  CHECK_CODE(status, Code::kBadMagic);
}
