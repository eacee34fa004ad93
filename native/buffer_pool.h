// Memory for what is read out of segments, lent to JavaScript as Buffers and taken back when the
// garbage collector lets go of them. A Buffer of its own would be fresh memory each time, and the
// first touch of a page costs as much as reading it many times over: under a hypervisor with
// shadow page tables, microseconds.
//
// One pool for the process, of blocks whose sizes are powers of two. Blocks that wait for their
// next use take at most kKeptBytesMax; further ones go back to the system. Any thread.
#ifndef SEGLOG_BUFFER_POOL_H_
#define SEGLOG_BUFFER_POOL_H_

#include <cstddef>

namespace seglog {

class BufferPool {
 public:
  static constexpr size_t kBlockBytesMin = size_t{64} << 10;
  static constexpr size_t kBlockBytesMax = size_t{4} << 20;
  static constexpr size_t kKeptBytesMax = size_t{32} << 20;

  // At least `length` bytes of any content, or nullptr where there is no memory. REQUIRES: length
  // is at most kBlockBytesMax.
  static void* Take(size_t length);
  // REQUIRES: `block` is from Take with the same length.
  static void Give(void* block, size_t length);
};

} // namespace seglog

#endif // SEGLOG_BUFFER_POOL_H_
