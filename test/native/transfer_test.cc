// Outgoing on a pair of sockets: what leaves, in which order, and what a failure looks like.
#include "../../native/transfer.h"
#include "test.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace seglog {

namespace {

constexpr uint64_t kNoLimit = UINT64_MAX;

// A non-blocking end to send on and an end to read from.
struct Pair {
  int sender = -1;
  int reader = -1;
  Pair() {
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) != 0)
      abort();
    sender = ends[0];
    reader = ends[1];
  }
  ~Pair() {
    close(sender);
    if (reader >= 0)
      close(reader);
  }
  void CloseReader() { close(std::exchange(reader, -1)); }

  std::string ReadAll() const {
    std::string all;
    char bytes[65536];
    for (ssize_t count; (count = read(reader, bytes, sizeof(bytes))) > 0;) {
      all.append(bytes, static_cast<size_t>(count));
    }
    return all;
  }
};

// A file of `content` that has no name any more.
std::shared_ptr<File> FileOf(const std::string& content) {
  char name[] = "/tmp/seglog-transfer-XXXXXX";
  close(mkstemp(name));
  std::shared_ptr<File> file;
  if (!File::Open(name, File::Mode::kReadWrite, &file).ok())
    abort();
  unlink(name);
  if (!file->Write(0, content.data(), content.size()).ok())
    abort();
  return file;
}

void AddText(Outgoing* outgoing, const std::string& text) {
  outgoing->AddBytes(reinterpret_cast<const uint8_t*>(text.data()), text.size());
}

} // namespace

TEST(Bytes_and_slices_leave_in_order) {
  Pair pair;
  Outgoing outgoing;
  const std::string header = "header,", trailer = ",trailer";
  AddText(&outgoing, header);
  AddText(&outgoing, header);
  outgoing.AddSlice(FileOf("0123456789"), 3, 4);
  AddText(&outgoing, trailer);
  CHECK(outgoing.Send(pair.sender, kNoLimit).ok());
  CHECK(outgoing.empty());
  CHECK_EQ(pair.ReadAll(), "header,header,3456,trailer");
}

TEST(Parts_without_bytes_are_left_out) {
  Outgoing outgoing;
  outgoing.AddBytes(nullptr, 0);
  outgoing.AddSlice(FileOf(""), 0, 0);
  CHECK(outgoing.empty());
}

TEST(More_pieces_than_one_call_takes_leave_all) {
  Pair pair;
  Outgoing outgoing;
  const std::string text = "ab";
  std::string expected;
  for (int i = 0; i < 200; i++) {
    AddText(&outgoing, text);
    expected += text;
  }
  CHECK(outgoing.Send(pair.sender, kNoLimit).ok());
  CHECK(outgoing.empty());
  CHECK_EQ(pair.ReadAll(), expected);
}

TEST(A_budget_cuts_inside_bytes_and_inside_a_slice) {
  Pair pair;
  Outgoing outgoing;
  const std::string text = "abcdef";
  AddText(&outgoing, text);
  AddText(&outgoing, text);
  outgoing.AddSlice(FileOf("0123456789"), 0, 10);
  std::string all;
  for (int turn = 0; turn < 8 && !outgoing.empty(); turn++) {
    CHECK(outgoing.Send(pair.sender, 4).ok());
    const std::string part = pair.ReadAll();
    CHECK(part.size() <= 4);
    all += part;
  }
  CHECK(outgoing.empty());
  CHECK_EQ(all, "abcdefabcdef0123456789");
}

TEST(A_full_socket_goes_on_where_it_stopped) {
  Pair pair;
  Outgoing outgoing;
  std::string content(3 << 20, 'x');
  for (size_t i = 0; i < content.size(); i += 997)
    content[i] = static_cast<char>(i);
  AddText(&outgoing, content);
  outgoing.AddSlice(FileOf(content), 1, content.size() - 1);
  std::string all;
  int turns = 0;
  while (!outgoing.empty() && turns++ < 10000) {
    CHECK(outgoing.Send(pair.sender, kNoLimit).ok());
    all += pair.ReadAll();
  }
  CHECK(turns > 1);
  CHECK(all == content + content.substr(1));
}

TEST(A_file_that_ends_before_its_slice_is_short) {
  Pair pair;
  Outgoing outgoing;
  outgoing.AddSlice(FileOf("0123456789"), 5, 6);
  CHECK(outgoing.Send(pair.sender, kNoLimit).code == Code::kShort);
  CHECK_EQ(pair.ReadAll(), "56789");
}

TEST(A_reader_that_is_gone_is_a_broken_pipe_for_bytes_and_for_slices) {
  Pair pair;
  pair.CloseReader();
  Outgoing bytes, slice;
  const std::string text = "text";
  AddText(&bytes, text);
  slice.AddSlice(FileOf("0123456789"), 0, 10);
  CHECK(bytes.Send(pair.sender, kNoLimit).code == Code::kBrokenPipe);
  CHECK(slice.Send(pair.sender, kNoLimit).code == Code::kBrokenPipe);
}

TEST(A_sent_or_cleared_slice_lets_go_of_its_file) {
  Pair pair;
  Outgoing outgoing;
  const std::shared_ptr<File> file = FileOf("0123456789");
  outgoing.AddSlice(file, 0, 10);
  outgoing.AddSlice(file, 0, 10);
  CHECK_EQ(file.use_count(), 3);
  CHECK(outgoing.Send(pair.sender, 10).ok());
  CHECK_EQ(file.use_count(), 2);
  outgoing.Clear();
  CHECK_EQ(file.use_count(), 1);
  CHECK(outgoing.empty());
}

} // namespace seglog
