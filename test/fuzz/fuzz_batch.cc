// Hostile batches: no bytes make the checks read beyond them, and what they accept is a batch by
// the rules that a reader relies on.
#include "../../native/places.h"
#include "fuzz.h"

#include <algorithm>
#include <cstring>
#include <memory>

using namespace seglog;
using namespace seglog::test;

// A batch with fields of any value behind a right length and CRC, which are what a random input
// never gets past.
static Bytes HostileBatch(Random* random) {
  BatchSpec spec;
  spec.records = 1 + static_cast<int32_t>(random->Below(5));
  spec.value_bytes = random->Below(40);
  Bytes batch = MakeBatch(spec);
  if (random->Chance(80))
    Mutate(random, &batch);
  if (batch.size() < format::kHeaderBytes)
    return batch;
  if (random->Chance(30))
    StoreBig<int32_t>(batch.data() + format::kRecordsCount,
                      static_cast<int32_t>(Interesting(random)));
  if (random->Chance(90)) {
    StoreBig<int32_t>(batch.data() + format::kBatchLength,
                      static_cast<int32_t>(batch.size() - format::kOverheadBytes));
    StoreBig<int8_t>(batch.data() + format::kMagic, format::kMagicV2);
    Reseal(&batch);
  }
  return batch;
}

// Without room behind it, so that a read too far is seen.
static std::unique_ptr<uint8_t[]> Exact(const Bytes& bytes) {
  std::unique_ptr<uint8_t[]> exact(new uint8_t[bytes.size()]);
  if (!bytes.empty())
    std::memcpy(exact.get(), bytes.data(), bytes.size());
  return exact;
}

TEST(Fuzz_Client_batches_of_any_bytes_are_refused_or_sound) {
  int accepted = 0;
  Fuzz("client batch", 10000, [&](Random* random) {
    const Bytes batch = HostileBatch(random);
    const auto exact = Exact(batch);
    BatchHeader header;
    int32_t record;
    const Status status = CheckClientBatch(exact.get(), batch.size(), &header, &record);
    if (status.code == Code::kInvalidRecord)
      CHECK(record >= -1);
    if (!status.ok())
      return;
    accepted++;
    CHECK_EQ(header.size(), batch.size());
    CHECK_EQ(header.base_offset, 0);
    CHECK_EQ(header.last_offset_delta + 1, header.records_count);
    CHECK(CrcMatches(exact.get(), header));
    CHECK(CheckStoredHeader(header).ok());
  });
  CHECK(accepted > 0);
}

SEGMENT_TEST(Fuzz_Batches_of_a_leader_of_any_bytes_leave_the_segment_whole) {
  Fuzz("leader batches", 500, [&](Random* random) {
    static int64_t base = 0;
    const auto segment = CreateSegment(base);
    Bytes batches;
    for (uint64_t left = 1 + random->Below(3); left > 0; left--) {
      BatchSpec spec;
      spec.base_offset = base + static_cast<int64_t>(random->Below(4));
      const Bytes batch = MakeBatch(spec);
      batches.insert(batches.end(), batch.begin(), batch.end());
    }
    if (random->Chance(50))
      Mutate(random, &batches);
    const auto exact = Exact(batches);
    BatchRange range;
    int32_t record;
    const Status status =
        segment->Append(exact.get(), batches.size(), Segment::Source::kLeader, 0, &range, &record);
    const SegmentInfo info = InfoOf(segment.get());
    CHECK_EQ(info.size, status.ok() ? batches.size() : 0);
    CHECK_EQ(info.next_offset, status.ok() ? range.last_offset + 1 : base);
    for (const char* ending : {".log", ".index", ".timeindex"})
      Remove(PathOf(base) + ending);
    base++;
  });
}

// Every row lies in the chunk, whatever stands there, and names offsets that rise.
TEST(Fuzz_Places_of_records_in_bytes_of_any_kind_lie_within_them) {
  size_t found_rows = 0;
  Fuzz("places", 10000, [&](Random* random) {
    Bytes chunk;
    int64_t base = 0;
    for (uint64_t left = 1 + random->Below(3); left > 0; left--) {
      Bytes batch = HostileBatch(random);
      if (batch.size() >= format::kHeaderBytes)
        StoreBig<int64_t>(batch.data(), base);
      chunk.insert(chunk.end(), batch.begin(), batch.end());
      base += 1 + static_cast<int64_t>(random->Below(5));
    }
    const auto exact = Exact(chunk);
    double times[64];
    int32_t places[192];
    const PlaceRows rows = {times, places, random->Below(33)};
    const PlaceRange range = {static_cast<int64_t>(random->Below(4)), 20, chunk.size()};
    const PlacesFound found = FindPlaces(exact.get(), chunk.size(), 0, range, rows);
    CHECK(found.rows <= rows.rows_max && found.bytes <= chunk.size());
    for (size_t row = 0; row < found.rows; row++) {
      CHECK(times[2 * row] >=
            (row == 0 ? static_cast<double>(range.from) : times[2 * row - 2] + 1));
      for (size_t part = 0; part < 4; part += 2) {
        const int32_t start = places[6 * row + part];
        const int32_t length = places[6 * row + part + 1];
        CHECK(start >= 0 && length >= -1);
        CHECK(static_cast<size_t>(start + std::max(length, 0)) <= found.bytes);
      }
    }
    found_rows += found.rows;
  });
  CHECK(found_rows > 0);
}
