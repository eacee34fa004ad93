#include "bindings.h"

namespace seglog {

void ExportSegments(Napi::Env env, Napi::Object exports) {}

} // namespace seglog
