// The harness of the native tests: TEST registers a function, CHECK notes a failure and goes on,
// and main.cc runs every test whose name holds the argument of the program.
//
//   TEST(A_short_write_is_taken_up_again) { CHECK_EQ(written, 10u); }
//
// Thread: tests run one after another on the main thread; CHECK may be called from any thread.
// A failure is a line on stderr and exit code 1. Sanitizers end the process by themselves.
#ifndef SEGLOG_TEST_H_
#define SEGLOG_TEST_H_

#include <sstream>
#include <string>

namespace seglog::test {

// Runs at static initialisation; the order of tests is that of files and lines as linked.
bool Register(const char* name, void (*body)());

// Notes a failure of the test that runs now.
void Fail(const char* file, int line, const std::string& what);
int FailureCount();

template <typename A, typename B>
void CheckEqual(const A& actual, const B& expected, const char* text, const char* file, int line) {
  if (actual == expected)
    return;
  std::ostringstream message;
  message << text << ": got " << actual << ", expected " << expected;
  Fail(file, line, message.str());
}

} // namespace seglog::test

#define TEST(name)                                                                                 \
  static void Test_##name();                                                                       \
  static const bool registered_##name = seglog::test::Register(#name, Test_##name);                \
  static void Test_##name()

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      seglog::test::Fail(__FILE__, __LINE__, #condition);                                          \
  } while (false)

#define CHECK_EQ(actual, expected)                                                                 \
  seglog::test::CheckEqual(actual, expected, #actual, __FILE__, __LINE__)

#endif // SEGLOG_TEST_H_
