#include "bindings.h"

namespace seglog {

void ExportLocks(Napi::Env env, Napi::Object exports) {}

} // namespace seglog
