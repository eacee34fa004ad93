// Memory for what is read out of segments, lent to JavaScript as Buffers and taken back when the
// garbage collector lets go of them. A Buffer of its own would be fresh memory each time, and the
// first touch of its pages costs more than reading into them: under a hypervisor with shadow page
// tables 5 to 20 us a page. The pool lies in huge pages, where that is paid once for 2 MiB.
//
// One pool for the process, of blocks of two sizes. It grows to kBytesMax of each, and keeps what
// it has. Any thread.
#ifndef SEGLOG_BUFFER_POOL_H_
#define SEGLOG_BUFFER_POOL_H_

#include <cstddef>

namespace seglog {

class BufferPool {
 public:
  static constexpr size_t kSmallBytes = size_t{256} << 10;
  static constexpr size_t kLargeBytes = size_t{2} << 20;
  static constexpr size_t kBytesMax = size_t{64} << 20;

  // At least `length` bytes of any content, or nullptr where the pool has none to lend. REQUIRES:
  // length is at most kLargeBytes.
  static void* Take(size_t length);
  // REQUIRES: `block` is from Take with the same length.
  static void Give(void* block, size_t length);
};

} // namespace seglog

#endif // SEGLOG_BUFFER_POOL_H_
