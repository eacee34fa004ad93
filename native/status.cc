#include "status.h"

#include <cerrno>

namespace seglog {

Status Status::FromErrno(int error) {
  switch (error) {
  case ENOSPC:
  case EDQUOT:
    return {Code::kNoSpace, error};
  case EMFILE:
  case ENFILE:
  case ENOMEM:
    return {Code::kTooManyFiles, error};
  case EEXIST:
    return {Code::kExists, error};
  case ENOENT:
    return {Code::kNotFound, error};
  case EPIPE:
  case ECONNRESET:
    return {Code::kBrokenPipe, error};
  case EOPNOTSUPP:
  case ENOSYS:
    return {Code::kUnsupported, error};
  default:
    return {Code::kIo, error};
  }
}

} // namespace seglog
