// Finds the valid end of a .log and fills the indexes on the way. Reports and never deletes: what
// becomes of the bytes behind the end is for the caller to decide.
//
// A batch is valid when it fits into the file, its magic is 2, its offsets rise from the base
// offset, and, where sums are checked, its CRC matches. The scan stops at the first that is not.
// Zeros up to the end of the file are the tail that was reserved for a mapping, and no damage.
//
// Thread: the pool. Memory: one buffer of at most kScanBufferBytes, whatever the file says.
#ifndef SEGLOG_RECOVERY_H_
#define SEGLOG_RECOVERY_H_

#include "index.h"

namespace seglog {

constexpr size_t kScanBufferBytes = size_t{1} << 20;

struct ScanResult {
  uint64_t valid_end = 0;  // position behind the last valid batch
  int64_t next_offset = 0; // one above its last offset; offset_min where there was none
  Code damage = Code::kOk; // why the scan ended before `end`
  // A whole message of magic 0 or 1 stands at valid_end: an older log, and not a torn tail.
  bool old_format = false;
};

// Scans [from, end), adding each valid batch to the indexes. `offset_min`: none may begin below it.
// Fails only where the file cannot be read or no buffer is to be had.
Status ScanLog(const File& file, uint64_t from, uint64_t end, int64_t base_offset,
               int64_t offset_min, bool check_sums, Indexes* indexes, ScanResult* result);

} // namespace seglog

#endif // SEGLOG_RECOVERY_H_
