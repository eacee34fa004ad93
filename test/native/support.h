// What the tests of the engine share: a directory of its own for each test, batches made to
// measure, faults on demand, and a scan of the whole log as the oracle of lookups.
#ifndef SEGLOG_TEST_SUPPORT_H_
#define SEGLOG_TEST_SUPPORT_H_

#include "../../native/segment.h"
#include "test.h"

#include <functional>
#include <string>
#include <vector>

namespace seglog::test {

// As TEST, with a directory and the helper thread for as long as the test runs.
#define SEGMENT_TEST(name)                                                                         \
  static void Segment_##name();                                                                    \
  TEST(name) {                                                                                     \
    const seglog::test::Workspace workspace;                                                       \
    Segment_##name();                                                                              \
  }                                                                                                \
  static void Segment_##name()

#define CHECK_CODE(status, expected)                                                               \
  CHECK_EQ(static_cast<int32_t>((status).code), static_cast<int32_t>(expected))

class Workspace {
 public:
  Workspace();
  ~Workspace();
};

// The directory of the running test; empty at its start, removed at its end.
const std::string& Directory();

using Bytes = std::vector<uint8_t>;

struct BatchSpec {
  int32_t records = 1;
  size_t value_bytes = 10;
  int64_t timestamp = 1000;
  int64_t base_offset = 0;
  int32_t last_offset_delta = -1; // -1: records - 1
  int16_t attributes = 0;
  int32_t leader_epoch = -1;
};

// A whole batch with a right CRC.
Bytes MakeBatch(const BatchSpec& spec);
// A batch around records that are given as bytes.
Bytes MakeBatchOf(const BatchSpec& spec, const Bytes& records);
// Puts a right CRC in, after a change of the bytes that it covers.
void Reseal(Bytes* batch);
void PutVarint(Bytes* bytes, int64_t value);
Bytes MakeRecord(int32_t offset_delta, size_t value_bytes);

Bytes ReadAll(const std::string& path);
void WriteAll(const std::string& path, const Bytes& bytes);
bool Exists(const std::string& path);
void Remove(const std::string& path);
uint64_t SizeOf(const std::string& path);

// Makes acts of files fail: the hook's word holds until the guard goes.
class Faults {
 public:
  using Hook = std::function<int(File::Act act, const std::string& path, size_t* length)>;
  explicit Faults(Hook hook);
  ~Faults();
};

SegmentOptions Options();
std::shared_ptr<Segment> CreateSegment(int64_t base_offset = 0,
                                       const SegmentOptions& options = Options());
std::shared_ptr<Segment> OpenSegment(const SegmentOptions& options, SegmentReport* report,
                                     int64_t base_offset = 0);
std::string PathOf(int64_t base_offset = 0);

Status AppendClient(Segment* segment, const BatchSpec& spec, BatchRange* range = nullptr);
Status AppendLeader(Segment* segment, const Bytes& batches, BatchRange* range = nullptr);
SegmentInfo InfoOf(Segment* segment);

// What a scan of the whole .log file says, as an oracle for lookups and indexes.
struct Stored {
  int64_t base_offset;
  int64_t last_offset;
  int64_t max_timestamp;
  uint64_t position;
  uint64_t size;
};
std::vector<Stored> ScanAll(const std::string& path);
// Every offset and timestamp that matters is looked up and compared with the scan.
void CheckLookups(Segment* segment, const std::vector<Stored>& stored);

} // namespace seglog::test

#endif // SEGLOG_TEST_SUPPORT_H_
