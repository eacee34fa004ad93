#include "transfer.h"

#include <algorithm>
#include <cerrno>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

namespace seglog {

namespace {

// A response of more pieces than this takes another call; far below IOV_MAX, it lies on the stack.
constexpr size_t kPiecesPerCall = 64;

} // namespace

void Outgoing::AddBytes(const uint8_t* bytes, size_t length) {
  if (length > 0)
    pieces_.push_back({nullptr, bytes, 0, length});
}

void Outgoing::AddSlice(std::shared_ptr<File> file, uint64_t position, uint64_t length) {
  if (length > 0)
    pieces_.push_back({std::move(file), nullptr, position, length});
}

void Outgoing::Clear() {
  pieces_.clear();
  next_ = 0;
}

Status Outgoing::Send(int socket, uint64_t budget) {
  while (!empty() && budget > 0) {
    const bool slice = pieces_[next_].file != nullptr;
    const int64_t sent = slice ? SendSlice(socket, budget) : SendBytes(socket, budget);
    if (sent < 0) {
      if (errno == EINTR)
        continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK)
        return Status::Ok();
      return Status::FromErrno(errno);
    }
    if (sent == 0)
      return Status::Of(Code::kShort);
    Advance(static_cast<uint64_t>(sent));
    budget -= static_cast<uint64_t>(sent);
  }
  return Status::Ok();
}

int64_t Outgoing::SendBytes(int socket, uint64_t budget) const {
  iovec vectors[kPiecesPerCall];
  msghdr message = {};
  message.msg_iov = vectors;
  size_t at = next_;
  bool cut = false;
  while (at < pieces_.size() && pieces_[at].file == nullptr && !cut && budget > 0 &&
         message.msg_iovlen < kPiecesPerCall) {
    const Piece& piece = pieces_[at];
    const uint64_t length = std::min(piece.length, budget);
    vectors[message.msg_iovlen++] = {const_cast<uint8_t*>(piece.bytes), length};
    budget -= length;
    cut = length < piece.length;
    at++;
  }
  const int more = cut || at < pieces_.size() ? MSG_MORE : 0;
  return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT | more);
}

int64_t Outgoing::SendSlice(int socket, uint64_t budget) const {
  const Piece& piece = pieces_[next_];
  off_t position = static_cast<off_t>(piece.position);
  return sendfile(socket, piece.file->fd(), &position, std::min(piece.length, budget));
}

void Outgoing::Advance(uint64_t sent) {
  while (sent > 0) {
    Piece& piece = pieces_[next_];
    const uint64_t step = std::min(piece.length, sent);
    piece.bytes = piece.bytes == nullptr ? nullptr : piece.bytes + step;
    piece.position += step;
    piece.length -= step;
    sent -= step;
    if (piece.length > 0)
      return;
    piece.file.reset();
    next_++;
  }
}

} // namespace seglog
