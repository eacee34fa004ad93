// A task of the helper. See read_ahead.h.
#include "read_ahead.h"

#include "buffer_pool.h"
#include "helper.h"

namespace seglog {

std::shared_ptr<ReadAhead> ReadAhead::Start(Request request) {
  auto ahead = std::make_shared<ReadAhead>(std::move(request));
  return Helper::Post([ahead] { ahead->Run(); }) ? ahead : nullptr;
}

ReadAhead::~ReadAhead() {
  if (bytes_ != nullptr)
    BufferPool::Give(bytes_, request_.length);
}

void ReadAhead::Run() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    if (state_ != State::kQueued)
      return;
    state_ = State::kRunning;
  }
  const bool good = Read();
  std::lock_guard<std::mutex> lock(mutex_);
  state_ = good ? State::kDone : State::kFailed;
  ended_.notify_all();
}

bool ReadAhead::Read() {
  bytes_ = BufferPool::Take(request_.length);
  if (bytes_ == nullptr)
    return false;
  size_t read;
  const Status status = request_.segment->Read(request_.position, bytes_, request_.length, &read);
  if (!status.ok() || read < request_.length)
    return false;
  // Of the helper alone, and warm from the last time.
  static thread_local std::vector<double> times(PlaceRows::kTimes * kRowsMax);
  static thread_local std::vector<int32_t> places(PlaceRows::kNumbers * kRowsMax);
  const PlaceRows rows = {times.data(), places.data(), kRowsMax};
  found_ =
      FindPlaces(static_cast<const uint8_t*>(bytes_), request_.length, 0, request_.range, rows);
  const auto row_count = static_cast<std::ptrdiff_t>(found_.rows);
  times_.assign(times.begin(), times.begin() + PlaceRows::kTimes * row_count);
  places_.assign(places.begin(), places.begin() + PlaceRows::kNumbers * row_count);
  return true;
}

bool ReadAhead::Finish() {
  std::unique_lock<std::mutex> lock(mutex_);
  if (state_ == State::kQueued)
    state_ = State::kFailed;
  ended_.wait(lock, [&] { return state_ != State::kRunning; });
  return state_ == State::kDone;
}

void* ReadAhead::TakeBytes() {
  void* bytes = bytes_;
  bytes_ = nullptr;
  return bytes;
}

} // namespace seglog
