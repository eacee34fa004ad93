// Finds the valid end of a .log and fills the indexes on the way. Reports and never deletes: what
// becomes of the bytes behind the end is for the caller to decide.
//
// A batch is valid when it fits into the file, its magic is known, its offsets rise from the base
// offset, and, where sums are checked, its CRC matches. The first that is not ends the log, unless
// its offset is below `keep_below`: such a batch was whole once, so it is damage and no torn tail,
// and the scan goes on at the next batch with a right CRC. Zeros up to the end of the file are the
// tail that was reserved for a mapping, and no damage.
//
// Thread: the pool. Memory: one buffer of at most kScanBufferBytes, whatever the file says.
#ifndef SEGLOG_RECOVERY_H_
#define SEGLOG_RECOVERY_H_

#include "index.h"

namespace seglog {

constexpr size_t kScanBufferBytes = size_t{1} << 20;

struct ScanScope {
  uint64_t from; // [from, end) is scanned
  uint64_t end;
  int64_t base_offset;
  int64_t offset_min; // no batch may begin below it
  int64_t keep_below; // damage below it does not end the log; 0 for none
  bool check_sums;
};

struct ScanResult {
  uint64_t valid_end = 0;  // position behind the last valid batch
  int64_t next_offset = 0; // one above its last offset; offset_min where there was none
  // The first damage, where it begins, and the offset that should be there.
  Code damage = Code::kOk;
  uint64_t damage_position = 0;
  int64_t damage_offset = -1;
  // What ended the log is damage below keep_below, behind which no batch was found.
  bool end_lost = false;
  Code end_code = Code::kOk; // what ended the log at valid_end, before the end of the file
  // A whole message of magic 0 or 1 stands at valid_end: an older log, and not a torn tail.
  bool old_format = false;
};

// Adds each valid batch to the indexes. Fails only where the file cannot be read or no buffer is to
// be had.
Status ScanLog(const File& file, const ScanScope& scope, Indexes* indexes, ScanResult* result);

// Bytes that scans of this process have gone over.
uint64_t ScannedBytes();

} // namespace seglog

#endif // SEGLOG_RECOVERY_H_
