// Arguments of a call from JavaScript by plain Node-API, which makes no object of its own: for the
// hot functions. Functions that use it are exported by `Export`, which ties the environment to
// them.
#ifndef SEGLOG_ARGUMENTS_H_
#define SEGLOG_ARGUMENTS_H_

#include "bindings.h"

#include <cmath>
#include <string>

namespace seglog {

// Text of at most `length_max` bytes of UTF-8.
inline bool ReadText(napi_env env, napi_value value, size_t length_max, std::string* text) {
  size_t length = 0;
  if (napi_get_value_string_utf8(env, value, nullptr, 0, &length) != napi_ok)
    return false;
  if (length > length_max)
    return false;
  text->resize(length + 1); // Node-API ends it with a zero
  napi_get_value_string_utf8(env, value, text->data(), length + 1, &length);
  text->resize(length);
  return true;
}

// A getter returns false where the argument is of another type, not a whole number, or out of
// range.
template <size_t Count> class Arguments {
 public:
  Arguments(napi_env env, napi_callback_info info) : env_(env) {
    size_t count = Count;
    void* data = nullptr;
    napi_get_cb_info(env, info, &count, values_, nullptr, &data);
    environment_ = static_cast<Environment*>(data);
  }

  bool Number(size_t index, double low, double high, double* number) const {
    if (napi_get_value_double(env_, values_[index], number) != napi_ok)
      return false;
    return *number >= low && *number <= high && std::trunc(*number) == *number;
  }
  bool Int32(size_t index, int32_t low, int32_t high, int32_t* number) const {
    double value;
    if (!Number(index, low, high, &value))
      return false;
    *number = static_cast<int32_t>(value);
    return true;
  }
  bool Int64(size_t index, double low, int64_t* number) const {
    double value;
    if (!Number(index, low, kNumberMax, &value))
      return false;
    *number = static_cast<int64_t>(value);
    return true;
  }
  bool Size(size_t index, size_t high, size_t* number) const {
    double value;
    if (!Number(index, 0, static_cast<double>(high), &value))
      return false;
    *number = static_cast<size_t>(value);
    return true;
  }
  bool Boolean(size_t index, bool* value) const {
    return napi_get_value_bool(env_, values_[index], value) == napi_ok;
  }
  bool Text(size_t index, size_t length_max, std::string* text) const {
    return ReadText(env_, values_[index], length_max, text);
  }
  // A name of a file; one with a zero in it would be another, shorter one.
  bool Path(size_t index, std::string* path) const {
    return Text(index, 4096, path) && !path->empty() && path->find('\0') == std::string::npos;
  }
  // Any view of an ArrayBuffer. The bytes are borrowed until the call returns.
  bool Bytes(size_t index, uint8_t** bytes, size_t* length) const {
    bool is_bytes = false;
    if (napi_is_buffer(env_, values_[index], &is_bytes) != napi_ok || !is_bytes)
      return false;
    void* data = nullptr;
    if (napi_get_buffer_info(env_, values_[index], &data, length) != napi_ok)
      return false;
    *bytes = static_cast<uint8_t*>(data);
    return true;
  }

  napi_env env() const { return env_; }
  napi_value value(size_t index) const { return values_[index]; }
  Environment* environment() const { return environment_; }
  double* results() const { return environment_->results; }

  napi_value Return(Status status, int32_t result = 0) const {
    napi_value value = nullptr;
    if (!status.ok())
      environment_->results[Environment::kErrnoSlot] = status.error;
    napi_create_int32(env_, status.ok() ? result : static_cast<int32_t>(status.code), &value);
    return value;
  }

 private:
  static constexpr double kNumberMax = 9007199254740991.0 + 1; // an end may lie one above
  napi_env env_;
  Environment* environment_ = nullptr;
  napi_value values_[Count] = {};
};

inline void Export(napi_env env, napi_value exports, const char* name, napi_callback callback) {
  napi_value function;
  void* environment = Environment::Of(Napi::Env(env));
  if (napi_create_function(env, name, NAPI_AUTO_LENGTH, callback, environment, &function) ==
      napi_ok) {
    napi_set_named_property(env, exports, name, function);
  }
}

} // namespace seglog

#endif // SEGLOG_ARGUMENTS_H_
