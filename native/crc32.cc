// Picks the path of the checksums when the addon is loaded, and puts the complements around it.
#include "crc32.h"

#include "crc32_paths.h"

namespace seglog {

namespace crc {

Paths AllPaths() {
#if defined(__x86_64__)
  return {{&kVpclmulqdq, &kPclmulqdq, &kPortable}, 3};
#elif defined(__aarch64__)
  return {{&kArmv8, &kPortable}, 2};
#else
  return {{&kPortable}, 1};
#endif
}

static const Path* Best() {
  const Paths paths = AllPaths();
  for (size_t i = 0; i < paths.count; i++) {
    if (paths.items[i]->supported())
      return paths.items[i];
  }
  return &kPortable;
}

static const Path* const best = Best();

} // namespace crc

uint32_t Crc32c(const void* data, size_t length, uint32_t seed) {
  return ~crc::best->crc32c(~seed, static_cast<const uint8_t*>(data), length);
}

uint32_t Crc32(const void* data, size_t length, uint32_t seed) {
  return ~crc::best->crc32(~seed, static_cast<const uint8_t*>(data), length);
}

const char* CrcPath() {
  return crc::best->name;
}

} // namespace seglog
