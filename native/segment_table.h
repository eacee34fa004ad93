// The segments that one environment has open, by handle. A handle is a slot and the generation of
// its use, so that a handle that was closed never means another segment.
//
// Thread: the JavaScript thread of the environment. Holds the helper thread for as long as it
// lives.
#ifndef SEGLOG_SEGMENT_TABLE_H_
#define SEGLOG_SEGMENT_TABLE_H_

#include "helper.h"
#include "segment.h"

#include <memory>
#include <vector>

namespace seglog {

class SegmentTable {
 public:
  // Slot and generation make a positive 32-bit number.
  static constexpr uint32_t kSlotsMax = 1u << 18;

  SegmentTable() { Helper::Retain(); }
  ~SegmentTable() {
    slots_.clear(); // before the helper goes, which takes down their windows
    Helper::Release();
  }

  // 0 where there are too many.
  int32_t Add(std::shared_ptr<Segment> segment) {
    size_t index;
    if (!free_.empty()) {
      index = free_.back();
      free_.pop_back();
    } else if (slots_.size() < kSlotsMax) {
      index = slots_.size();
      slots_.push_back({});
    } else {
      return 0;
    }
    slots_[index].segment = std::move(segment);
    return static_cast<int32_t>(slots_[index].generation * kSlotsMax + index);
  }

  // The slot's own pointer, valid until the next Add. kClosed, or kBadArgument for no handle at
  // all.
  Status Get(int32_t handle, std::shared_ptr<Segment>** segment) {
    const size_t index = static_cast<uint32_t>(handle) % kSlotsMax;
    if (handle <= 0 || index >= slots_.size())
      return Status::Of(Code::kBadArgument);
    if (slots_[index].generation != static_cast<uint32_t>(handle) / kSlotsMax) {
      return Status::Of(Code::kClosed);
    }
    if (slots_[index].segment == nullptr)
      return Status::Of(Code::kClosed);
    *segment = &slots_[index].segment;
    return Status::Ok();
  }

  // REQUIRES: Get was content.
  void Remove(int32_t handle) {
    Entry& slot = slots_[static_cast<uint32_t>(handle) % kSlotsMax];
    slot.segment = nullptr;
    slot.generation = slot.generation % kGenerationsMax + 1;
    free_.push_back(static_cast<size_t>(&slot - slots_.data()));
  }

 private:
  static constexpr uint32_t kGenerationsMax = (1u << 13) - 1;
  struct Entry {
    std::shared_ptr<Segment> segment;
    uint32_t generation = 1;
  };
  std::vector<Entry> slots_;
  std::vector<size_t> free_;
};

} // namespace seglog

#endif // SEGLOG_SEGMENT_TABLE_H_
