// Fixtures of the native tests. See support.h.
#include "support.h"

#include "../../native/crc32.h"
#include "../../native/helper.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <unistd.h>

namespace seglog::test {

namespace {

std::string directory;
Faults::Hook fault_hook;

int CallHook(File::Act act, const std::string& path, size_t* length) {
  return fault_hook(act, path, length);
}

} // namespace

Workspace::Workspace() {
  std::string made = (std::filesystem::temp_directory_path() / "seglog-test-XXXXXX").string();
  CHECK(::mkdtemp(made.data()) != nullptr);
  directory = made;
  Helper::Retain();
}

Workspace::~Workspace() {
  Helper::Release();
  std::filesystem::remove_all(directory);
}

const std::string& Directory() {
  return directory;
}

void PutVarint(Bytes* bytes, int64_t value) {
  auto rest = static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63);
  for (; rest >= 0x80; rest >>= 7)
    bytes->push_back(static_cast<uint8_t>(rest | 0x80));
  bytes->push_back(static_cast<uint8_t>(rest));
}

Bytes MakeRecord(int32_t offset_delta, size_t value_bytes) {
  Bytes body = {0};
  PutVarint(&body, 0);
  PutVarint(&body, offset_delta);
  PutVarint(&body, -1);
  PutVarint(&body, static_cast<int64_t>(value_bytes));
  body.insert(body.end(), value_bytes, static_cast<uint8_t>('a' + offset_delta % 26));
  PutVarint(&body, 0);
  Bytes record;
  PutVarint(&record, static_cast<int64_t>(body.size()));
  record.insert(record.end(), body.begin(), body.end());
  return record;
}

void Reseal(Bytes* batch) {
  const uint32_t sum =
      Crc32c(batch->data() + format::kAttributes, batch->size() - format::kAttributes, 0);
  StoreBig<uint32_t>(batch->data() + format::kCrc, sum);
}

Bytes MakeBatchOf(const BatchSpec& spec, const Bytes& records) {
  Bytes batch(format::kHeaderBytes);
  batch.insert(batch.end(), records.begin(), records.end());
  uint8_t* bytes = batch.data();
  const int32_t delta = spec.last_offset_delta < 0 ? spec.records - 1 : spec.last_offset_delta;
  StoreBig<int64_t>(bytes + format::kBaseOffset, spec.base_offset);
  StoreBig<int32_t>(bytes + format::kBatchLength,
                    static_cast<int32_t>(batch.size() - format::kOverheadBytes));
  StoreBig<int32_t>(bytes + format::kLeaderEpoch, spec.leader_epoch);
  StoreBig<int8_t>(bytes + format::kMagic, format::kMagicV2);
  StoreBig<int16_t>(bytes + format::kAttributes, spec.attributes);
  StoreBig<int32_t>(bytes + format::kLastOffsetDelta, delta);
  StoreBig<int64_t>(bytes + format::kBaseTimestamp, spec.timestamp);
  StoreBig<int64_t>(bytes + format::kMaxTimestamp, spec.timestamp);
  StoreBig<int64_t>(bytes + format::kProducerId, -1);
  StoreBig<int16_t>(bytes + format::kProducerEpoch, -1);
  StoreBig<int32_t>(bytes + format::kBaseSequence, -1);
  StoreBig<int32_t>(bytes + format::kRecordsCount, spec.records);
  Reseal(&batch);
  return batch;
}

Bytes MakeBatch(const BatchSpec& spec) {
  Bytes records;
  for (int32_t i = 0; i < spec.records; i++) {
    const Bytes record = MakeRecord(i, spec.value_bytes);
    records.insert(records.end(), record.begin(), record.end());
  }
  return MakeBatchOf(spec, records);
}

Bytes ReadAll(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return Bytes(std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>());
}

void WriteAll(const std::string& path, const Bytes& bytes) {
  std::ofstream stream(path, std::ios::binary | std::ios::trunc);
  stream.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
}

bool Exists(const std::string& path) {
  return std::filesystem::exists(path);
}

void Remove(const std::string& path) {
  std::filesystem::remove(path);
}

uint64_t SizeOf(const std::string& path) {
  return std::filesystem::file_size(path);
}

Faults::Faults(Hook hook) {
  fault_hook = std::move(hook);
  File::SetFaultHook(CallHook);
}

Faults::~Faults() {
  File::SetFaultHook(nullptr);
}

SegmentOptions Options() {
  SegmentOptions options;
  options.segment_bytes = uint64_t{64} << 20;
  return options;
}

std::string PathOf(int64_t base_offset) {
  char name[32];
  std::snprintf(name, sizeof name, "%020lld", static_cast<long long>(base_offset));
  return Directory() + "/" + name;
}

std::shared_ptr<Segment> CreateSegment(int64_t base_offset, const SegmentOptions& options) {
  std::shared_ptr<Segment> segment;
  CHECK(Segment::Create(PathOf(base_offset), base_offset, options, &segment).ok());
  return segment;
}

std::shared_ptr<Segment> OpenSegment(const SegmentOptions& options, SegmentReport* report,
                                     int64_t base_offset) {
  std::shared_ptr<Segment> segment;
  *report = {};
  CHECK(Segment::Open(PathOf(base_offset), base_offset, options, &segment, report).ok());
  return segment;
}

Status AppendClient(Segment* segment, const BatchSpec& spec, BatchRange* range) {
  BatchRange own;
  int32_t record;
  Bytes batch = MakeBatch(spec);
  return segment->Append(batch.data(), batch.size(), Segment::Source::kClient, 7,
                         range == nullptr ? &own : range, &record);
}

Status AppendLeader(Segment* segment, const Bytes& batches, BatchRange* range) {
  BatchRange own;
  int32_t record;
  Bytes copy = batches;
  return segment->Append(copy.data(), copy.size(), Segment::Source::kLeader, 0,
                         range == nullptr ? &own : range, &record);
}

SegmentInfo InfoOf(Segment* segment) {
  SegmentInfo info = {};
  CHECK(segment->Info(&info).ok());
  return info;
}

std::vector<Stored> ScanAll(const std::string& path) {
  const Bytes bytes = ReadAll(path);
  std::vector<Stored> stored;
  for (uint64_t at = 0; at + format::kMagic < bytes.size();) {
    const auto magic = LoadBig<int8_t>(bytes.data() + at + format::kMagic);
    if (HeaderBytesOf(magic) > bytes.size() - at)
      break;
    const BatchHeader header = ReadHeader(bytes.data() + at);
    if (!CheckStoredHeader(header).ok() || header.size() > bytes.size() - at)
      break;
    stored.push_back(
        {header.base_offset, header.last_offset(), header.max_timestamp, at, header.size()});
    at += header.size();
  }
  return stored;
}

static void CheckOffsets(Segment* segment, const std::vector<Stored>& stored) {
  constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();
  int64_t offset = InfoOf(segment).base_offset;
  for (const Stored& batch : stored) {
    // Each offset from the end of the batch before to the last of this one leads here.
    for (; offset <= batch.last_offset; offset++) {
      BatchRange found;
      CHECK(segment->Locate(offset, 1, kNoLimit, &found).ok());
      CHECK_EQ(found.position, batch.position);
      CHECK_EQ(found.base_offset, batch.base_offset);
      CHECK_EQ(found.length, batch.size);
    }
  }
}

static void CheckTimestamp(Segment* segment, const std::vector<Stored>& stored, int64_t timestamp) {
  const Stored* expected = nullptr;
  for (const Stored& batch : stored) {
    if (expected == nullptr && batch.max_timestamp >= timestamp)
      expected = &batch;
  }
  BatchRange found;
  const Status status = segment->LocateTimestamp(timestamp, &found);
  CHECK_CODE(status, expected == nullptr ? Code::kNotFound : Code::kOk);
  if (expected != nullptr)
    CHECK_EQ(found.position, expected->position);
}

void CheckLookups(Segment* segment, const std::vector<Stored>& stored) {
  CheckOffsets(segment, stored);
  for (const Stored& batch : stored) {
    CheckTimestamp(segment, stored, batch.max_timestamp);
    CheckTimestamp(segment, stored, batch.max_timestamp + 1);
  }
}

} // namespace seglog::test
