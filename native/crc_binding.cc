#include "bindings.h"

namespace seglog {

void ExportCrc(Napi::Env env, Napi::Object exports) {}

} // namespace seglog
