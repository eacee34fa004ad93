// The scan of a log and the naming of what ended it. See recovery.h.
#include "recovery.h"

#include "scan.h"

#include <algorithm>
#include <memory>
#include <new>

namespace seglog {

namespace {

// Names what stands at the position where the scan stopped before the end.
Status NameDamage(BatchScanner* scanner, Code code, ScanResult* result) {
  bool zeros;
  Status status = scanner->OnlyZeros(scanner->position(), &zeros);
  if (!status.ok() || zeros)
    return status;
  status = scanner->OldMessage(&result->old_format);
  result->damage = result->old_format ? Code::kBadMagic : code;
  return status;
}

} // namespace

Status ScanLog(const File& file, uint64_t from, uint64_t end, int64_t base_offset,
               int64_t offset_min, bool check_sums, Indexes* indexes, ScanResult* result) {
  const size_t buffer_bytes =
      static_cast<size_t>(std::clamp<uint64_t>(end - from, format::kHeaderBytes, kScanBufferBytes));
  std::unique_ptr<uint8_t[]> buffer(new (std::nothrow) uint8_t[buffer_bytes]);
  if (buffer == nullptr)
    return Status::Of(Code::kTooManyFiles);
  BatchScanner scanner(file, from, end, base_offset, offset_min, buffer.get(), buffer_bytes);
  result->next_offset = offset_min;
  Status status;
  for (;;) {
    status = scanner.Next();
    if (status.ok() && check_sums)
      status = scanner.CheckSum();
    if (!status.ok())
      break;
    // Positions are 32-bit numbers in the index.
    if (scanner.position() + scanner.header().size() > format::kSegmentBytesMax) {
      status = Status::Of(Code::kTooLarge);
      break;
    }
    indexes->Add(scanner.header(), scanner.position());
    result->next_offset = scanner.header().last_offset() + 1;
  }
  result->valid_end = scanner.position();
  if (status.code == Code::kNotFound)
    return Status::Ok();
  if (status.error != 0)
    return status; // the file could not be read
  return NameDamage(&scanner, status.code, result);
}

} // namespace seglog
