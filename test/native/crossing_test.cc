#include "../../native/crossing.h"
#include "support.h"

#include <filesystem>

namespace seglog {

TEST("the crossing is one of the sizes that were tried, and nothing is left of the trial") {
  Crossing::Measure(test::Directory());
  const size_t bytes = Crossing::BelowBytes();
  CHECK(bytes >= Crossing::kBytesMin && bytes <= Crossing::kBytesMax);
  CHECK((bytes & (bytes - 1)) == 0);
  CHECK(std::filesystem::is_empty(test::Directory()));
}

TEST("it is measured once, whatever directory comes later") {
  Crossing::Measure(test::Directory());
  const size_t bytes = Crossing::BelowBytes();
  Crossing::Measure("/nowhere");
  CHECK_EQ(Crossing::BelowBytes(), bytes);
}

} // namespace seglog
