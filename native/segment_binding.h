// What the bindings of segments share: how a handle among the arguments becomes a segment.
//
// Thread: the JavaScript thread.
#ifndef SEGLOG_SEGMENT_BINDING_H_
#define SEGLOG_SEGMENT_BINDING_H_

#include "arguments.h"
#include "segment_table.h"

namespace seglog {

inline Status SegmentOf(const Environment* environment, int32_t handle,
                        std::shared_ptr<Segment>** found) {
  return static_cast<SegmentTable*>(environment->segments.get())->Get(handle, found);
}

// The segment that the first argument names.
template <size_t Count>
Status SegmentOf(const Arguments<Count>& arguments, std::shared_ptr<Segment>** found) {
  int32_t handle;
  if (!arguments.Int32(0, 0, INT32_MAX, &handle))
    return Status::Of(Code::kBadArgument);
  return SegmentOf(arguments.environment(), handle, found);
}

} // namespace seglog

#endif // SEGLOG_SEGMENT_BINDING_H_
