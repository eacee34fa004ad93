// The scan of a log and the naming of what ended it. See recovery.h.
#include "recovery.h"

#include "scan.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <new>

namespace seglog {

namespace {

std::atomic<uint64_t> scanned_bytes{0};

void Note(const BatchScanner& scanner, Code code, ScanResult* result) {
  if (result->damage != Code::kOk)
    return;
  result->damage = code;
  result->damage_position = scanner.position();
  result->damage_offset = scanner.expected();
}

// Names what stands at the position where the scan stopped before the end.
Status NameDamage(BatchScanner* scanner, Code code, ScanResult* result) {
  bool zeros;
  Status status = scanner->OnlyZeros(scanner->position(), &zeros);
  if (!status.ok() || zeros)
    return status;
  status = scanner->OldMessage(&result->old_format);
  if (status.ok() && code == Code::kOffsetTooLarge) {
    // A number out of garbage is no offset: what has one is whole.
    const bool fits = scanner->header().size() <= scanner->end() - scanner->position();
    status = fits ? scanner->CheckSum() : Status::Of(Code::kCorrupt);
    if (status.error != 0)
      return status;
    code = status.ok() ? code : Code::kCorrupt;
    status = Status::Ok();
  }
  result->end_code = result->old_format ? Code::kBadMagic : code;
  Note(*scanner, result->end_code, result);
  return status;
}

// The batch that Next went to, as far as it can be told.
Status Check(const ScanScope& scope, BatchScanner* scanner, bool* offsets_wrong) {
  *offsets_wrong = false;
  Status status = scope.check_sums ? scanner->CheckSum() : Status::Ok();
  // Offsets lie outside the sum: one that rose is told by what follows.
  if (status.ok() && scanner->expected() < scope.keep_below &&
      scanner->header().base_offset > scanner->expected()) {
    status = scanner->Overtaken(offsets_wrong);
  }
  // Positions are 32-bit numbers in the index.
  if (status.ok() && scanner->position() + scanner->header().size() > format::kSegmentBytesMax)
    status = Status::Of(Code::kTooLarge);
  return status;
}

// Goes on behind damage that is below the recovery point. kNotFound: nothing follows.
Status GoOn(BatchScanner* scanner, bool parsed, bool offsets_wrong) {
  if (!parsed)
    return scanner->Resync();
  if (!offsets_wrong)
    return scanner->PassOver();
  scanner->Disregard();
  const Status status = scanner->Next();
  return status.ok() || status.error != 0 ? status : scanner->Resync();
}

Status Scan(const ScanScope& scope, BatchScanner* scanner, Indexes* indexes, ScanResult* result) {
  result->next_offset = scope.offset_min;
  result->valid_end = scope.from;
  uint64_t counted = scope.from;
  Status status = scanner->Next();
  for (;;) {
    const bool parsed = status.ok();
    bool offsets_wrong = false;
    if (parsed)
      status = Check(scope, scanner, &offsets_wrong);
    if (status.ok() && !offsets_wrong) {
      indexes->Add(scanner->header(), scanner->position());
      result->next_offset = scanner->header().last_offset() + 1;
      result->valid_end = scanner->position() + scanner->header().size();
      scanned_bytes.fetch_add(result->valid_end - counted, std::memory_order_relaxed);
      counted = result->valid_end;
      status = scanner->Next();
      continue;
    }
    if (status.code == Code::kNotFound)
      return Status::Ok();
    if (status.error != 0)
      return status; // the file could not be read
    const Code code = offsets_wrong ? Code::kCorrupt : status.code;
    bool zeros = false;
    if (scanner->expected() < scope.keep_below && !parsed)
      status = scanner->OnlyZeros(scanner->position(), &zeros);
    if (!status.ok() && status.error != 0)
      return status;
    if (zeros)
      return Status::Ok();
    if (scanner->expected() >= scope.keep_below || code == Code::kTooLarge)
      return NameDamage(scanner, code, result);
    Note(*scanner, code, result);
    status = GoOn(scanner, parsed, offsets_wrong);
    if (status.code != Code::kNotFound)
      continue;
    result->end_lost = true;
    return Status::Ok();
  }
}

} // namespace

uint64_t ScannedBytes() {
  return scanned_bytes.load(std::memory_order_relaxed);
}

Status ScanLog(const File& file, const ScanScope& scope, Indexes* indexes, ScanResult* result) {
  const auto wanted =
      std::clamp<uint64_t>(scope.end - scope.from, format::kHeaderBytes, kScanBufferBytes);
  std::unique_ptr<uint8_t[]> buffer(new (std::nothrow) uint8_t[wanted]);
  if (buffer == nullptr)
    return Status::Of(Code::kTooManyFiles);
  BatchScanner scanner(file, scope.from, scope.end, scope.base_offset, scope.offset_min,
                       buffer.get(), static_cast<size_t>(wanted));
  return Scan(scope, &scanner, indexes, result);
}

} // namespace seglog
