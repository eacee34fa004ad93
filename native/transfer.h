// What is on its way to one socket: bytes in memory and slices of files, in order. Knows nothing of
// event loops or JavaScript: transfer_binding.cc calls Send again whenever the socket can take
// more.
//
// Bytes are borrowed and must stay as they are until they are sent; a slice holds its file. Memory
// does not grow with the length of slices, as they go from the page cache to the socket by
// sendfile. Consecutive bytes leave in one call, and MSG_MORE joins a header to the slice behind
// it.
//
// Thread: one at a time. Blocking: never on the socket, whatever its own mode; a slice that is not
// in the page cache waits for the disk.
#ifndef SEGLOG_TRANSFER_H_
#define SEGLOG_TRANSFER_H_

#include "file.h"
#include "status.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace seglog {

class Outgoing {
 public:
  // A part without bytes is left out.
  void AddBytes(const uint8_t* bytes, size_t length);
  void AddSlice(std::shared_ptr<File> file, uint64_t position, uint64_t length);

  // True when all of it was handed over to the socket.
  bool empty() const { return next_ == pieces_.size(); }
  void Clear();

  // Hands over up to `budget` bytes, ending early when the socket is full: both are kOk, and
  // `empty` tells whether more is to come. After an error an unknown part was sent and the stream
  // of the socket is spoilt. kShort: a file ends before its slice. kBrokenPipe: the reader is gone.
  // REQUIRES: SIGPIPE is ignored (sendfile has no flag for it) and `socket` is non-blocking (the
  // same); both are so for the sockets of Node.
  Status Send(int socket, uint64_t budget);

 private:
  struct Piece {
    std::shared_ptr<File> file; // null for bytes
    const uint8_t* bytes;
    uint64_t position; // in the file
    uint64_t length;   // what is left to send
  };

  int64_t SendBytes(int socket, uint64_t budget) const;
  int64_t SendSlice(int socket, uint64_t budget) const;
  void Advance(uint64_t sent);

  std::vector<Piece> pieces_;
  size_t next_ = 0;
};

} // namespace seglog

#endif // SEGLOG_TRANSFER_H_
