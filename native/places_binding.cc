// The exports recordPlaces, readAhead and readAheadTake of src/native-records.ts.
#include "buffer_pool.h"
#include "read_ahead.h"
#include "segment_binding.h"

#include <algorithm>

namespace seglog {

namespace {

// Slots of `results`: Result in src/native.ts.
constexpr size_t kLength = 4;
constexpr size_t kNextOffset = 6;
constexpr size_t kDetail = 9;

// A typed array of this type and its elements.
template <typename Element>
bool ReadArray(napi_env env, napi_value value, napi_typedarray_type type, Element** elements,
               size_t* count) {
  napi_typedarray_type found;
  void* data;
  if (napi_get_typedarray_info(env, value, &found, count, &data, nullptr, nullptr) != napi_ok)
    return false;
  *elements = static_cast<Element*>(data);
  return found == type;
}

napi_value RecordPlaces(napi_env env, napi_callback_info info) {
  const Arguments<7> arguments(env, info);
  uint8_t* chunk;
  size_t length, at, times, places;
  PlaceRange range;
  PlaceRows rows;
  int64_t bytes_max;
  const bool good = arguments.Bytes(0, &chunk, &length) && length <= INT32_MAX &&
                    arguments.Size(1, length, &at) && arguments.Int64(2, 0, &range.from) &&
                    arguments.Int64(3, 0, &range.to) && arguments.Int64(4, 0, &bytes_max) &&
                    ReadArray(env, arguments.value(5), napi_float64_array, &rows.times, &times) &&
                    ReadArray(env, arguments.value(6), napi_int32_array, &rows.places, &places);
  if (!good)
    return arguments.Return(Status::Of(Code::kBadArgument));
  range.bytes_max = static_cast<uint64_t>(bytes_max);
  rows.rows_max = std::min(times / PlaceRows::kTimes, places / PlaceRows::kNumbers);
  const PlacesFound found = FindPlaces(chunk, length, at, range, rows);
  arguments.results()[kLength] = static_cast<double>(found.bytes);
  arguments.results()[kNextOffset] = static_cast<double>(found.next);
  return arguments.Return(Status::Ok(), static_cast<int32_t>(found.rows));
}

using Held = std::shared_ptr<ReadAhead>;

bool ReadRange(const Arguments<6>& arguments, PlaceRange* range) {
  int64_t bytes_max;
  if (!arguments.Int64(3, 0, &range->from) || !arguments.Int64(4, 0, &range->to) ||
      !arguments.Int64(5, 0, &bytes_max))
    return false;
  range->bytes_max = static_cast<uint64_t>(bytes_max);
  return true;
}

napi_value Start(napi_env env, napi_callback_info info) {
  const Arguments<6> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return arguments.Return(status);
  ReadAhead::Request request = {*segment, 0, 0, {}};
  size_t position;
  if (!arguments.Size(1, format::kOffsetMax, &position) ||
      !arguments.Size(2, BufferPool::kLargeBytes, &request.length) || request.length == 0 ||
      !ReadRange(arguments, &request.range))
    return arguments.Return(Status::Of(Code::kBadArgument));
  request.position = position;
  Held ahead = ReadAhead::Start(std::move(request));
  if (ahead == nullptr)
    return arguments.Return(Status::Of(Code::kTooLarge));
  auto* held = new Held(std::move(ahead));
  const auto drop = [](napi_env, void* data, void*) { delete static_cast<Held*>(data); };
  napi_value external = nullptr;
  if (napi_create_external(env, held, drop, nullptr, &external) == napi_ok)
    return external;
  delete held;
  return arguments.Return(Status::Of(Code::kUnsupported));
}

napi_value Take(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  napi_valuetype type;
  void* data = nullptr;
  double* times;
  int32_t* places;
  size_t time_count, place_count;
  const bool good = napi_typeof(env, arguments.value(0), &type) == napi_ok &&
                    type == napi_external &&
                    napi_get_value_external(env, arguments.value(0), &data) == napi_ok &&
                    ReadArray(env, arguments.value(1), napi_float64_array, &times, &time_count) &&
                    ReadArray(env, arguments.value(2), napi_int32_array, &places, &place_count);
  if (!good)
    return arguments.Return(Status::Of(Code::kBadArgument));
  ReadAhead* ahead = static_cast<Held*>(data)->get();
  if (!ahead->Finish() || ahead->times().size() > time_count ||
      ahead->places().size() > place_count)
    return arguments.Return(Status::Of(Code::kNotFound));
  void* bytes = ahead->TakeBytes();
  napi_value buffer = bytes == nullptr ? nullptr : PooledBufferOf(env, bytes, ahead->length());
  if (buffer == nullptr)
    return arguments.Return(Status::Of(Code::kNotFound));
  std::copy(ahead->times().begin(), ahead->times().end(), times);
  std::copy(ahead->places().begin(), ahead->places().end(), places);
  const PlacesFound& found = ahead->found();
  arguments.results()[kDetail] = static_cast<double>(found.rows);
  arguments.results()[kLength] = static_cast<double>(found.bytes);
  arguments.results()[kNextOffset] = static_cast<double>(found.next);
  return buffer;
}

} // namespace

void ExportPlaces(Napi::Env env, Napi::Object exports) {
  Export(env, exports, "recordPlaces", RecordPlaces);
  Export(env, exports, "readAhead", Start);
  Export(env, exports, "readAheadTake", Take);
}

} // namespace seglog
