// Runs the native tests: all of them, or those whose name holds the first argument. Prints one line
// per test, failures on stderr. Exit code 0 when all passed, 1 when one failed, 2 when none ran.
#include "test.h"

#include <atomic>
#include <cstdio>
#include <cstring>
#include <vector>

namespace seglog::test {

struct Test {
  const char* name;
  void (*body)();
};

// A function's static, because tests register before the statics of this file may exist.
static std::vector<Test>& Tests() {
  static std::vector<Test> tests;
  return tests;
}

static std::atomic<int> failures{0};

bool Register(const char* name, void (*body)()) {
  Tests().push_back({name, body});
  return true;
}

void Fail(const char* file, int line, const std::string& what) {
  // A loop that fails everywhere must not bury its first failure.
  if (++failures <= 50)
    std::fprintf(stderr, "%s:%d: %s\n", file, line, what.c_str());
}

int FailureCount() {
  return failures;
}

static int RunAll(const char* part) {
  int ran = 0;
  int failed = 0;
  for (const Test& test : Tests()) {
    if (std::strstr(test.name, part) == nullptr)
      continue;
    const int before = failures;
    test.body();
    const bool passed = failures == before;
    std::printf("%s %s\n", passed ? "ok  " : "FAIL", test.name);
    std::fflush(stdout);
    ran++;
    if (!passed)
      failed++;
  }
  std::printf("%d tests, %d failed\n", ran, failed);
  if (ran == 0)
    return 2;
  return failed == 0 ? 0 : 1;
}

} // namespace seglog::test

int main(int count, char** arguments) {
  return seglog::test::RunAll(count > 1 ? arguments[1] : "");
}
