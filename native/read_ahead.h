// Reads a part of a segment on the helper thread, with the places of its records, while JavaScript
// is at the part before: reading and checking then cost it next to nothing.
//
// Whoever started it takes it with Finish, or lets go of it. What the helper has not begun by then
// is cancelled rather than waited for, so that a busy helper holds nobody up.
#ifndef SEGLOG_READ_AHEAD_H_
#define SEGLOG_READ_AHEAD_H_

#include "places.h"
#include "segment.h"

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace seglog {

class ReadAhead {
 public:
  // Rows at most; what follows is left to the reader.
  static constexpr size_t kRowsMax = 8192;

  struct Request {
    std::shared_ptr<Segment> segment;
    uint64_t position;
    size_t length; // 1 to BufferPool::kLargeBytes
    PlaceRange range;
  };

  // Null where the helper takes nothing more.
  static std::shared_ptr<ReadAhead> Start(Request request);
  explicit ReadAhead(Request request) : request_(std::move(request)) {}
  ~ReadAhead();
  ReadAhead(const ReadAhead&) = delete;
  ReadAhead& operator=(const ReadAhead&) = delete;

  // Waits where the helper is at it. False where it was cancelled or failed: read it yourself.
  bool Finish();

  // REQUIRES: Finish was true, for these.
  size_t length() const { return request_.length; }
  const std::vector<double>& times() const { return times_; }
  const std::vector<int32_t>& places() const { return places_; }
  const PlacesFound& found() const { return found_; }
  // The bytes, from BufferPool::Take(length()), which are the caller's from now on.
  void* TakeBytes();

 private:
  enum class State { kQueued, kRunning, kDone, kFailed };

  void Run();
  bool Read();

  const Request request_;
  std::mutex mutex_;
  std::condition_variable ended_;
  State state_ = State::kQueued;
  void* bytes_ = nullptr;
  std::vector<double> times_;
  std::vector<int32_t> places_;
  PlacesFound found_;
};

} // namespace seglog

#endif // SEGLOG_READ_AHEAD_H_
