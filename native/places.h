// Where the records of a chunk of a log lie: one walk over its batches that checks each CRC and
// writes a row of numbers for each record, so that a reader in JavaScript makes nothing of a record
// but what it is asked for.
//
// It goes on while batches are whole, plain, sound, of magic 2 and follow one another without a
// gap, and stops in front of anything else, without saying why: the reader looks at that batch by
// itself, and has an error for it or another way to read it. Pure; borrowed bytes; any thread.
#ifndef SEGLOG_PLACES_H_
#define SEGLOG_PLACES_H_

#include <cstddef>
#include <cstdint>

namespace seglog {

struct PlaceRange {
  int64_t from;       // records below have no row
  int64_t to;         // exclusive; no batch that begins behind it is looked at
  uint64_t bytes_max; // nor one behind so many bytes
};

// Rows of two doubles (offset, timestamp) and of six numbers: start and length of the key, of the
// value (a length of -1 is null), start and count of the headers. Starts count from the chunk's.
struct PlaceRows {
  static constexpr size_t kTimes = 2;
  static constexpr size_t kNumbers = 6;
  double* times;
  int32_t* places;
  size_t rows_max;
};

struct PlacesFound {
  size_t rows = 0;
  size_t bytes = 0;  // of the batches that were walked
  int64_t next = -1; // offset behind them
};

// Walks chunk[at, length). What fails is left for the caller to find again.
PlacesFound FindPlaces(const uint8_t* chunk, size_t length, size_t at, const PlaceRange& range,
                       const PlaceRows& rows);

} // namespace seglog

#endif // SEGLOG_PLACES_H_
