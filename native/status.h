// The result of every native function: a code and, for system calls, errno. Functions of native/
// never throw, log or abort; src/native.ts is the one place that turns a code into an error of
// JavaScript.
//
// The numbers are part of the boundary: src/native.ts lists the same names with the same values and
// a test compares them. Ok is 0; on the boundary a code is negative so that it can share a return
// value with a handle or a length.
#ifndef SEGLOG_STATUS_H_
#define SEGLOG_STATUS_H_

#include <cstdint>

namespace seglog {

enum class Code : int32_t {
  kOk = 0,
  kBadArgument = -1,       // a caller's mistake: range, type, unknown handle
  kClosed = -2,            // the handle was closed
  kIo = -3,                // a system call failed; errno says how
  kNoSpace = -4,           // ENOSPC or EDQUOT: nothing was changed
  kTooManyFiles = -5,      // EMFILE, ENFILE or ENOMEM from mmap: may work later
  kLocked = -6,            // another process or handle holds the lock
  kExists = -7,            // a file of that name is there already
  kNotFound = -8,          // no such file; no such timestamp
  kFenced = -9,            // a write or sync failed before: reopen first
  kReadOnly = -10,         // the segment is sealed
  kSegmentFull = -11,      // does not fit: roll and call again
  kOffsetOutOfRange = -12, // below the base offset or above the end of this segment
  kCorrupt = -13,          // CRC, length or structure of stored or received bytes
  kBadMagic = -14,         // a magic other than 2
  kInvalidRecord = -15,    // a right CRC around records that break the rules of the format
  kTooLarge = -16,         // more than the limit that the caller gave
  kOffsetTooLarge = -17,   // an offset above 2^53 - 1
  kBrokenPipe = -18,       // the reader of a socket is gone
  kUnsupported = -19,      // this kernel or file system cannot do it
  kShort = -20,            // the file ended before the bytes that were asked for
};

struct Status {
  Code code = Code::kOk;
  int32_t error = 0; // errno, or 0

  bool ok() const { return code == Code::kOk; }
  static Status Ok() { return {}; }
  static Status Of(Code code) { return {code, 0}; }
  // Classifies errno: ENOSPC and EDQUOT, EMFILE, ENFILE and ENOMEM, EEXIST, ENOENT, EPIPE and
  // ECONNRESET, EAGAIN of a lock; anything else is kIo.
  static Status FromErrno(int error);
};

} // namespace seglog

#endif // SEGLOG_STATUS_H_
