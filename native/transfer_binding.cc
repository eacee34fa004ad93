#include "bindings.h"

namespace seglog {

void ExportTransfer(Napi::Env env, Napi::Object exports) {}

} // namespace seglog
