// Mapped windows of a .log file, into which small batches are copied. A window covers reserved
// blocks whose pages are in memory and in the page tables before the first copy, so that a full
// disk is an error of the reservation and never a signal.
//
// Idle logs cost nothing: windows are asked for only after kMapAfterBytes of small batches came
// since the last flush, and while small batches are half of the bytes. They begin at
// kWindowBytesMin and double up to kWindowBytesMax. The helper thread prepares the next one ahead;
// while it is not ready the caller writes, into the same page cache. For larger batches, and where
// flushes are frequent, it only reserves: a write into reserved blocks costs a tenth less. Two
// windows are not neighbours in memory: what crosses their border is written by the caller too.
//
// A store to a page that the kernel took back and cannot read again would still be a signal: the
// window is at the end of the log, where pages are recent.
#ifndef SEGLOG_MAPPING_H_
#define SEGLOG_MAPPING_H_

#include "file.h"

#include <memory>

namespace seglog {

// One mapping of [position, position + length) of a file. Unmapped when destroyed.
class Window {
 public:
  // All windows of the process together; above it the caller goes on writing.
  static constexpr uint64_t kMappedBytesMax = uint64_t{512} << 20;

  // Reserves, maps and populates; blocks. REQUIRES: position is a multiple of the page size.
  // kUnsupported, kNoSpace, kTooManyFiles, kTooLarge (kMappedBytesMax), kIo.
  static Status Prepare(File* file, uint64_t position, uint64_t length,
                        std::unique_ptr<Window>* result);
  // What all windows of the process hold.
  static uint64_t MappedBytes();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  uint64_t position() const { return position_; }
  uint64_t end() const { return position_ + length_; }
  uint8_t* at(uint64_t position) const { return data_ + (position - position_); }

 private:
  Window(uint8_t* data, uint64_t position, uint64_t length)
      : data_(data), position_(position), length_(length) {}
  uint8_t* const data_;
  const uint64_t position_;
  const uint64_t length_;
};

// The windows of one log. Everything but Halt is called under the lock of the segment; Halt is not,
// since it waits: it belongs to the one job that changes the length of the file.
class Windows {
 public:
  static constexpr uint64_t kMapAfterBytes = uint64_t{64} << 10;
  static constexpr uint64_t kReserveAfterBytes = uint64_t{1} << 20;
  static constexpr uint64_t kWindowBytesMin = uint64_t{1} << 20;
  static constexpr uint64_t kWindowBytesMax = uint64_t{16} << 20;

  // Nothing is reserved or mapped at or above `limit`.
  Windows(std::shared_ptr<File> file, uint64_t limit, bool enabled);
  ~Windows();

  // Copies to `position`, where a window that holds all of it is ready. False: write it.
  bool Copy(uint64_t position, const void* bytes, size_t length);
  // The log was extended by `length` to `end`, by whichever way: takes and asks for windows.
  // `small` says that Copy was tried, or would have been.
  void Extended(uint64_t end, size_t length, bool small);
  // What is dirty was written out: a log that is flushed often is not mapped, because populated
  // pages would go to the disk twice.
  void Flushed();
  // True where no window lies above the end and none is being prepared.
  bool Idle() const;

  // Waits for a preparation under way and allows no other: afterwards nothing extends the file.
  void Halt();
  // Lets go of what is mapped. REQUIRES: Halt came before.
  void Drop();
  void Resume();

 private:
  struct Slot;
  void Take(uint64_t end);
  void AskForWindow(uint64_t end);
  // True where the helper has the request, to map or only to reserve.
  bool Ask(uint64_t end, uint64_t position, uint64_t length, bool map);
  void Retire(std::unique_ptr<Window> window);

  const std::shared_ptr<File> file_;
  const uint64_t limit_;
  bool enabled_;
  const std::shared_ptr<Slot> slot_; // shared with the helper
  std::unique_ptr<Window> current_;
  uint64_t small_bytes_ = 0; // appended since the last request or flush
  uint64_t all_bytes_ = 0;
  uint64_t since_ask_ = 0; // appended since the last request, flush or not
  uint64_t window_bytes_ = kWindowBytesMin;
  uint64_t ask_at_ = 0;    // no request before the log ends here
  uint64_t asked_at_ = 0;  // where it ended at the last request
  uint64_t asked_end_ = 0; // where what was asked for ends
  // How far ahead of the end a window begins, so that the log is not written there before it is
  // ready: what was appended while a late one was prepared.
  uint64_t lead_ = 0;
  bool late_ = false;
};

} // namespace seglog

#endif // SEGLOG_MAPPING_H_
