// Exports of the checksums: crcPath, crc32c and crc32 of src/native.ts. They are called for single
// messages of a hundred bytes, so they use the C interface of Node directly: no wrapper object, no
// allocation but the number that is returned.
//
// Bytes are borrowed for the call. What is not a Uint8Array with a range inside it, or not a whole
// number, gives kBadArgument, never an exception.
#include "bindings.h"
#include "crc32.h"

#include <node_api.h>

namespace seglog {

using Sum = uint32_t (*)(const void* data, size_t length, uint32_t seed);

// A whole number in [0, max]. Anything else, also what is not a number, is refused.
static bool WholeNumber(napi_env env, napi_value value, double max, uint64_t* result) {
  double number;
  if (napi_get_value_double(env, value, &number) != napi_ok)
    return false;
  if (!(number >= 0 && number <= max))
    return false; // refuses NaN too
  *result = static_cast<uint64_t>(number);
  return static_cast<double>(*result) == number;
}

static bool SumOf(napi_env env, napi_callback_info info, Sum sum, uint32_t* result) {
  size_t count = 4;
  napi_value arguments[4];
  if (napi_get_cb_info(env, info, &count, arguments, nullptr, nullptr) != napi_ok)
    return false;
  napi_typedarray_type type;
  size_t size;
  void* data;
  if (napi_get_typedarray_info(env, arguments[0], &type, &size, &data, nullptr, nullptr) !=
          napi_ok ||
      type != napi_uint8_array) {
    return false;
  }
  uint64_t offset;
  uint64_t length;
  uint64_t seed;
  if (!WholeNumber(env, arguments[1], static_cast<double>(size), &offset))
    return false;
  if (!WholeNumber(env, arguments[2], static_cast<double>(size - offset), &length))
    return false;
  if (!WholeNumber(env, arguments[3], 0xFFFFFFFF, &seed))
    return false;
  const auto* start = static_cast<const uint8_t*>(data) + offset;
  *result = sum(start, length, static_cast<uint32_t>(seed));
  return true;
}

template <Sum sum> static napi_value Call(napi_env env, napi_callback_info info) {
  uint32_t result;
  napi_value value = nullptr;
  if (SumOf(env, info, sum, &result)) {
    napi_create_uint32(env, result, &value);
  } else {
    napi_create_int32(env, static_cast<int32_t>(Code::kBadArgument), &value);
  }
  return value;
}

static void ExportFunction(Napi::Env env, Napi::Object exports, const char* name,
                           napi_callback callback) {
  napi_value function;
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, nullptr, &function) == napi_ok) {
    napi_set_named_property(env, exports, name, function);
  }
}

void ExportCrc(Napi::Env env, Napi::Object exports) {
  exports.Set("crcPath", Napi::String::New(env, CrcPath()));
  ExportFunction(env, exports, "crc32c", Call<Crc32c>);
  ExportFunction(env, exports, "crc32", Call<Crc32>);
}

} // namespace seglog
