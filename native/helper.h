// The one helper thread of the process, shared by all environments: it prepares and takes down
// mappings, so that no append waits for the kernel to find memory. Started with the first task,
// joined when the last environment lets go of it; tasks that are still queued then are dropped.
//
// Bounded: at most kQueueMax tasks wait. Tasks never call into JavaScript.
#ifndef SEGLOG_HELPER_H_
#define SEGLOG_HELPER_H_

#include <cstddef>
#include <functional>

namespace seglog {

class Helper {
 public:
  static constexpr size_t kQueueMax = 1024;

  // Each environment holds it once.
  static void Retain();
  static void Release();

  // False where the task was not taken: the queue is full, nobody holds the helper, or no thread
  // could be started. The caller does without.
  static bool Post(std::function<void()> task);
};

} // namespace seglog

#endif // SEGLOG_HELPER_H_
