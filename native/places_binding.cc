// The export recordPlaces of src/native-records.ts.
#include "arguments.h"
#include "places.h"

#include <algorithm>

namespace seglog {

namespace {

// Slots of `results`: Result in src/native.ts.
constexpr size_t kLength = 4;
constexpr size_t kNextOffset = 6;

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

} // namespace

void ExportPlaces(Napi::Env env, Napi::Object exports) {
  Export(env, exports, "recordPlaces", RecordPlaces);
}

} // namespace seglog
