// The buffered walk over stored batches. See scan.h.
#include "scan.h"

#include "crc32.h"

#include <algorithm>

namespace seglog {

namespace {

// Bytes that one search for the next batch may sum: who fills records with what looks like headers
// gains no more of our time than that.
constexpr uint64_t kResyncSumBytesMax = uint64_t{64} << 20;

} // namespace

BatchScanner::BatchScanner(const File& file, uint64_t from, uint64_t end, int64_t base_offset,
                           int64_t offset_min, uint8_t* buffer, size_t buffer_bytes)
    : file_(file), end_(end), base_offset_(base_offset), offset_min_(offset_min),
      expected_(offset_min), buffer_(buffer), buffer_bytes_(buffer_bytes), position_(from),
      next_position_(from) {}

void BatchScanner::Restart(uint64_t from, int64_t offset_min) {
  position_ = next_position_ = from;
  offset_min_ = offset_min;
}

Status BatchScanner::Fill(uint64_t position, size_t length, const uint8_t** bytes) {
  if (position > end_ || length > end_ - position)
    return Status::Of(Code::kShort);
  const bool held = position >= buffer_from_ && position - buffer_from_ <= buffer_filled_ &&
                    length <= buffer_filled_ - (position - buffer_from_);
  if (!held) {
    const uint64_t wanted = std::min<uint64_t>(buffer_bytes_, end_ - position);
    buffer_from_ = position;
    buffer_filled_ = 0;
    const Status status = file_.Read(position, buffer_, wanted, &buffer_filled_);
    if (!status.ok())
      return status;
    if (buffer_filled_ < length)
      return Status::Of(Code::kShort);
  }
  *bytes = buffer_ + (position - buffer_from_);
  return Status::Ok();
}

Status BatchScanner::FillHeader(uint64_t position, const uint8_t** bytes) {
  const Status status = Fill(position, format::kMagic + 1, bytes);
  if (!status.ok())
    return status;
  const auto magic = LoadBig<int8_t>(*bytes + format::kMagic);
  return Fill(position, HeaderBytesOf(magic), bytes);
}

Status BatchScanner::Next() {
  position_ = next_position_;
  expected_ = offset_min_;
  if (position_ == end_)
    return Status::Of(Code::kNotFound);
  const uint8_t* bytes;
  Status status = FillHeader(position_, &bytes);
  if (!status.ok())
    return status;
  header_ = ReadHeader(bytes);
  status = CheckStoredHeader(header_);
  if (!status.ok())
    return status;
  if (header_.base_offset < offset_min_)
    return Status::Of(Code::kCorrupt);
  if (header_.last_offset() - base_offset_ > format::kRelativeOffsetMax) {
    return Status::Of(Code::kCorrupt);
  }
  if (header_.size() > end_ - position_)
    return Status::Of(Code::kShort);
  next_position_ = position_ + header_.size();
  offset_min_ = header_.last_offset() + 1;
  return Status::Ok();
}

Status BatchScanner::Sum(uint64_t from, uint64_t length, bool castagnoli, uint32_t* sum) {
  *sum = 0;
  while (length > 0) {
    const size_t chunk = static_cast<size_t>(std::min<uint64_t>(length, buffer_bytes_));
    const uint8_t* bytes;
    const Status status = Fill(from, chunk, &bytes);
    if (!status.ok())
      return status;
    *sum = castagnoli ? Crc32c(bytes, chunk, *sum) : Crc32(bytes, chunk, *sum);
    from += chunk;
    length -= chunk;
  }
  return Status::Ok();
}

Status BatchScanner::CheckSum() {
  uint32_t sum;
  const bool old = IsOldMagic(header_.magic);
  const size_t summed_from = old ? format::kOldMagic : format::kAttributes;
  const Status status = Sum(position_ + summed_from, header_.size() - summed_from, !old, &sum);
  if (!status.ok())
    return status;
  return sum == header_.crc ? Status::Ok() : Status::Of(Code::kCorrupt);
}

Status BatchScanner::PassOver(uint64_t bytes_max) {
  const uint64_t damaged = position_;
  const int64_t expected = expected_, follows = header_.last_offset() + 1;
  offset_min_ = expected;
  const Status status = Next();
  if (status.error != 0 || (status.ok() && header_.base_offset == follows))
    return status;
  position_ = damaged;
  offset_min_ = expected;
  return Resync(bytes_max);
}

Status BatchScanner::Resync(uint64_t bytes_max) {
  const uint64_t from = position_;
  const uint64_t last = bytes_max < end_ - from ? from + bytes_max : end_;
  const int64_t offset_min = offset_min_;
  uint64_t summed = 0;
  for (uint64_t at = from + 1; at < last; at++) {
    const uint8_t* bytes;
    Status status = Fill(at, format::kHeaderBytes, &bytes);
    if (status.code == Code::kShort)
      break;
    if (!status.ok())
      return status;
    const size_t places = buffer_filled_ - (at - buffer_from_) - format::kHeaderBytes;
    size_t skipped = 0;
    while (skipped < places && bytes[skipped + format::kMagic] != format::kMagicV2)
      skipped++;
    if (bytes[skipped + format::kMagic] != format::kMagicV2) {
      at += skipped;
      continue;
    }
    at += skipped;
    if (at >= last)
      break;
    next_position_ = at;
    status = Next();
    if (status.ok() && (summed += header_.size()) > kResyncSumBytesMax)
      break;
    if (status.ok())
      status = CheckSum();
    if (status.ok() || status.error != 0)
      return status;
    offset_min_ = offset_min;
  }
  position_ = next_position_ = end_;
  return Status::Of(Code::kNotFound);
}

Status BatchScanner::Overtaken(bool* overtaken) {
  *overtaken = false;
  const uint8_t* bytes;
  const Status status = Fill(next_position_, format::kHeaderBytes, &bytes);
  if (status.code == Code::kShort)
    return Status::Ok();
  if (!status.ok())
    return status;
  const BatchHeader next = ReadHeader(bytes);
  *overtaken = CheckStoredHeader(next).ok() && next.base_offset <= header_.last_offset();
  return status;
}

Status BatchScanner::OnlyZeros(uint64_t from, bool* zeros) {
  *zeros = false;
  while (from < end_) {
    const size_t chunk = static_cast<size_t>(std::min<uint64_t>(end_ - from, buffer_bytes_));
    const uint8_t* bytes;
    const Status status = Fill(from, chunk, &bytes);
    if (!status.ok())
      return status;
    if (std::any_of(bytes, bytes + chunk, [](uint8_t byte) { return byte != 0; })) {
      return Status::Ok();
    }
    from += chunk;
  }
  *zeros = true;
  return Status::Ok();
}

Status BatchScanner::OldMessage(bool* found) {
  *found = false;
  const uint8_t* bytes;
  Status status = Fill(position_, format::kOldHeaderBytes, &bytes);
  if (status.code == Code::kShort)
    return Status::Ok();
  if (!status.ok())
    return status;
  const auto magic = LoadBig<int8_t>(bytes + format::kOldMagic);
  const auto length = LoadBig<int32_t>(bytes + format::kBatchLength);
  const auto crc = LoadBig<uint32_t>(bytes + format::kOldCrc);
  const uint64_t summed_from = position_ + format::kOldMagic;
  const uint64_t message_end = position_ + format::kOverheadBytes + static_cast<uint64_t>(length);
  if (magic < 0 || magic >= format::kMagicV2 || length < 0)
    return Status::Ok();
  if (message_end <= summed_from || message_end > end_)
    return Status::Ok();
  uint32_t sum;
  status = Sum(summed_from, message_end - summed_from, false, &sum);
  if (!status.ok())
    return status;
  *found = sum == crc;
  return Status::Ok();
}

} // namespace seglog
