// What a batch from a client must satisfy: one line of a table per rule.
#include "support.h"

using namespace seglog;
using namespace seglog::test;

namespace {

struct Case {
  const char* name;
  Code expected;
  int32_t record;
  std::function<Bytes()> make;
};

template <typename T> Bytes With(size_t position, T value, BatchSpec spec = {}) {
  Bytes batch = MakeBatch(spec);
  StoreBig<T>(batch.data() + position, value);
  Reseal(&batch);
  return batch;
}

// One record whose body is given: its length is put in front.
Bytes WithBody(const Bytes& body) {
  Bytes record;
  PutVarint(&record, static_cast<int64_t>(body.size()));
  record.insert(record.end(), body.begin(), body.end());
  return MakeBatchOf({}, record);
}

// Attributes, timestamp delta and offset delta of a first record, and what follows them.
Bytes WithFields(std::initializer_list<int64_t> varints) {
  Bytes body = {0, 0, 0};
  for (const int64_t varint : varints)
    PutVarint(&body, varint);
  return WithBody(body);
}

Bytes Appended(Bytes batch, const Bytes& more) {
  batch.insert(batch.end(), more.begin(), more.end());
  return batch;
}

Bytes Cut(Bytes batch, size_t bytes) {
  batch.resize(batch.size() - bytes);
  return batch;
}

const BatchSpec kThree = {3, 10, 1000, 0, -1, 0, -1};

BatchSpec WithCodec(int16_t codec) {
  BatchSpec spec;
  spec.attributes = codec;
  return spec;
}

const Case kCases[] = {
    {"one record", Code::kOk, -1, [] { return MakeBatch({}); }},
    {"three records", Code::kOk, -1, [] { return MakeBatch(kThree); }},
    {"any leader epoch", Code::kOk, -1, [] { return With<int32_t>(format::kLeaderEpoch, 77); }},
    {"no bytes", Code::kCorrupt, -1, [] { return Bytes(); }},
    {"less than a header", Code::kCorrupt, -1, [] { return Bytes(60, 2); }},
    {"magic 1", Code::kBadMagic, -1, [] { return With<int8_t>(format::kMagic, 1); }},
    {"magic 3", Code::kBadMagic, -1, [] { return With<int8_t>(format::kMagic, 3); }},
    {"wrong CRC", Code::kCorrupt, -1,
     [] {
       Bytes batch = MakeBatch({});
       batch.back() ^= 1;
       return batch;
     }},
    {"length one short", Code::kCorrupt, -1,
     [] {
       const Bytes batch = MakeBatch({});
       return With<int32_t>(format::kBatchLength, static_cast<int32_t>(batch.size()) - 13);
     }},
    {"length one long", Code::kCorrupt, -1,
     [] {
       const Bytes batch = MakeBatch({});
       return With<int32_t>(format::kBatchLength, static_cast<int32_t>(batch.size()) - 11);
     }},
    {"negative length", Code::kCorrupt, -1, [] { return With<int32_t>(format::kBatchLength, -1); }},
    {"largest length", Code::kCorrupt, -1,
     [] { return With<int32_t>(format::kBatchLength, INT32_MAX); }},
    {"one byte missing", Code::kCorrupt, -1, [] { return Cut(MakeBatch({}), 1); }},
    {"two batches", Code::kInvalidRecord, -1,
     [] { return Appended(MakeBatch({}), MakeBatch({})); }},
    {"base offset above 0", Code::kInvalidRecord, -1,
     [] { return With<int64_t>(format::kBaseOffset, 5); }},
    {"no records", Code::kInvalidRecord, -1,
     [] { return With<int32_t>(format::kRecordsCount, 0); }},
    {"negative count", Code::kInvalidRecord, -1,
     [] { return With<int32_t>(format::kRecordsCount, -1); }},
    {"last offset delta above the count", Code::kInvalidRecord, -1,
     [] { return With<int32_t>(format::kLastOffsetDelta, 1); }},
    {"more counted than there are", Code::kInvalidRecord, 1,
     [] {
       BatchSpec spec;
       spec.records = 2;
       return MakeBatchOf(spec, MakeRecord(0, 10));
     }},
    {"fewer counted than there are", Code::kInvalidRecord, -1,
     [] { return MakeBatchOf({}, Appended(MakeRecord(0, 10), MakeRecord(1, 10))); }},
    {"trailing bytes", Code::kInvalidRecord, -1,
     [] { return MakeBatchOf({}, Appended(MakeRecord(0, 10), {0})); }},
    {"first offset delta 1", Code::kInvalidRecord, 0,
     [] { return MakeBatchOf({}, MakeRecord(1, 10)); }},
    {"control batch", Code::kInvalidRecord, -1,
     [] { return With<int16_t>(format::kAttributes, format::kControl); }},
    {"codec 5", Code::kInvalidRecord, -1, [] { return With<int16_t>(format::kAttributes, 5); }},
    {"codec 7", Code::kInvalidRecord, -1, [] { return With<int16_t>(format::kAttributes, 7); }},
    {"compressed, whatever the payload", Code::kOk, -1,
     [] { return MakeBatchOf(WithCodec(4), {1, 2, 3}); }},
    {"producer id without a sequence", Code::kInvalidRecord, -1,
     [] { return With<int64_t>(format::kProducerId, 9); }},
    {"null key and null value", Code::kOk, -1, [] { return WithFields({-1, -1, 0}); }},
    {"empty key and empty value", Code::kOk, -1, [] { return WithFields({0, 0, 0}); }},
    {"key length -2", Code::kInvalidRecord, 0, [] { return WithFields({-2, -1, 0}); }},
    {"value length -2", Code::kInvalidRecord, 0, [] { return WithFields({-1, -2, 0}); }},
    {"key beyond the record", Code::kInvalidRecord, 0,
     [] { return WithFields({INT32_MAX, -1, 0}); }},
    {"value beyond the record", Code::kInvalidRecord, 0, [] { return WithFields({-1, 2, 0}); }},
    {"header with null value", Code::kOk, -1, [] { return WithFields({-1, -1, 1, 0, -1}); }},
    {"header with null key", Code::kInvalidRecord, 0,
     [] { return WithFields({-1, -1, 1, -1, -1}); }},
    {"negative count of headers", Code::kInvalidRecord, 0, [] { return WithFields({-1, -1, -1}); }},
    {"more headers than bytes", Code::kInvalidRecord, 0,
     [] { return WithFields({-1, -1, INT32_MAX}); }},
    {"bytes behind the headers", Code::kInvalidRecord, 0,
     [] { return WithFields({-1, -1, 0, 0}); }},
    {"record without fields", Code::kInvalidRecord, 0, [] { return WithBody({}); }},
    {"record of negative length", Code::kInvalidRecord, 0,
     [] { return MakeBatchOf({}, {0x01, 0, 0, 0}); }},
    {"varint without an end", Code::kInvalidRecord, 0,
     [] { return MakeBatchOf({}, Bytes(10, 0xff)); }},
};

} // namespace

TEST(A_batch_from_a_client_is_accepted_or_refused_by_its_bytes) {
  for (const Case& one : kCases) {
    // A copy of exactly this size, so that a read beyond it is seen by the sanitizer.
    const Bytes made = one.make();
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[made.size()]);
    std::copy(made.begin(), made.end(), exact.get());
    BatchHeader header;
    int32_t record;
    const Status status = CheckClientBatch(exact.get(), made.size(), &header, &record);
    if (status.code != one.expected || record != one.record) {
      Fail(__FILE__, __LINE__,
           std::string(one.name) + ": code " + std::to_string(static_cast<int>(status.code)) +
               ", record " + std::to_string(record));
    }
  }
}

TEST(A_batch_cut_anywhere_is_corrupt_and_is_not_read_beyond_its_end) {
  const Bytes whole = MakeBatch(kThree);
  for (size_t length = 0; length < whole.size(); length++) {
    const std::unique_ptr<uint8_t[]> exact(new uint8_t[length]);
    std::copy(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(length), exact.get());
    BatchHeader header;
    int32_t record;
    CHECK_CODE(CheckClientBatch(exact.get(), length, &header, &record), Code::kCorrupt);
  }
}

TEST(Any_byte_of_the_records_changed_under_a_right_CRC_is_refused_or_leaves_a_walkable_batch) {
  const Bytes whole = MakeBatch(kThree);
  for (size_t at = format::kHeaderBytes; at < whole.size(); at++) {
    for (int value = 0; value < 256; value++) {
      Bytes changed = whole;
      changed[at] = static_cast<uint8_t>(value);
      Reseal(&changed);
      BatchHeader header;
      int32_t record;
      const Status status = CheckClientBatch(changed.data(), changed.size(), &header, &record);
      CHECK(status.ok() || status.code == Code::kInvalidRecord);
    }
  }
}

TEST(A_stamp_leaves_every_byte_from_the_attributes_on_as_it_was_and_the_CRC_right) {
  const Bytes before = MakeBatch(kThree);
  Bytes after = before;
  StampBatch(after.data(), 123456789, 42);
  const BatchHeader header = ReadHeader(after.data());
  CHECK_EQ(header.base_offset, 123456789);
  CHECK_EQ(header.leader_epoch, 42);
  CHECK(CrcMatches(after.data(), header));
  CHECK(std::equal(before.begin() + format::kMagic, before.end(), after.begin() + format::kMagic));
}
