// The harness of the native tests: TEST registers a function, CHECK notes a failure and goes on,
// and main.cc runs every test whose name holds the argument of the program, each in a directory of
// its own, with the helper thread of the engine there to be used.
//
//   TEST("a short write is taken up again") { CHECK_EQ(written, 10u); }
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

// The directory of the running test; empty at its start, removed at its end.
const std::string& Directory();

// Notes a failure of the test that runs now.
void Fail(const char* file, int line, const std::string& what);

template <typename A, typename B>
void CheckEqual(const A& actual, const B& expected, const char* text, const char* file, int line) {
  if (actual == static_cast<A>(expected))
    return;
  std::ostringstream message;
  message << text << ": got " << actual << ", expected " << expected;
  Fail(file, line, message.str());
}

} // namespace seglog::test

#define SEGLOG_JOIN_(a, b) a##b
#define SEGLOG_JOIN(a, b) SEGLOG_JOIN_(a, b)
#define TEST(name)                                                                                 \
  static void SEGLOG_JOIN(Run, __LINE__)();                                                        \
  static const bool SEGLOG_JOIN(registered, __LINE__) =                                            \
      seglog::test::Register(name, SEGLOG_JOIN(Run, __LINE__));                                    \
  static void SEGLOG_JOIN(Run, __LINE__)()

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition))                                                                              \
      seglog::test::Fail(__FILE__, __LINE__, #condition);                                          \
  } while (false)

#define CHECK_EQ(actual, expected)                                                                 \
  seglog::test::CheckEqual(actual, expected, #actual, __FILE__, __LINE__)

#endif // SEGLOG_TEST_H_
