// Mapped windows of a .log file, into which batches are copied. A window covers reserved blocks
// whose pages are in memory and in the page tables before the first copy, so that a full disk is an
// error of the reservation and never a signal.
//
// The helper thread prepares the next window ahead. While none is ready the caller writes, into the
// same page cache. Two windows are not neighbours in memory: what crosses their border is written
// by the caller too. For larger batches, and where flushes are frequent, the helper only reserves:
// a write into reserved blocks costs a tenth less.
//
// A store to a page that the kernel took back and cannot read again would still be a signal: the
// window is at the end of the log, where pages are recent.
#ifndef SEGLOG_MAPPING_H_
#define SEGLOG_MAPPING_H_

#include "file.h"

#include <atomic>
#include <memory>

namespace seglog {

// One mapping of [position, position + length) of a file, which is prepared piece by piece.
// Unmapped when destroyed.
//
// A piece is as large as a huge page, lies at a multiple of it, and asks for one. Where the kernel
// takes one huge page of page cache for it, and maps it by one entry, 4 KiB are made ready for
// 0.6 us instead of 6, and copying beats writing up to Windows::kCopyCheaplyBelowBytes; above, the
// calls run at the speed of memory too. Where it does not (an older kernel, another file system,
// memory in pieces), batches from Windows::kCopyBelowBytes on are written.
class Window {
 public:
  static constexpr uint64_t kPieceBytes = uint64_t{2} << 20;
  // All windows of the process together; above it the caller goes on writing.
  static constexpr uint64_t kMappedBytesMax = uint64_t{512} << 20;

  // Reserves and maps; blocks. REQUIRES: position and length are multiples of kPieceBytes.
  // kUnsupported, kNoSpace, kTooManyFiles, kTooLarge (kMappedBytesMax), kIo.
  static Status Map(File* file, uint64_t position, uint64_t length,
                    std::shared_ptr<Window>* result);
  // Makes a piece ready; blocks. REQUIRES: index < pieces().
  Status Prepare(uint64_t index);
  // What all windows of the process hold.
  static uint64_t MappedBytes();
  ~Window();
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;

  uint64_t position() const { return position_; }
  uint64_t end() const { return position_ + length_; }
  uint64_t pieces() const { return length_ / kPieceBytes; }
  uint64_t piece_position(uint64_t index) const { return position_ + index * kPieceBytes; }
  // Whether all of it lies in pieces that are ready.
  bool Holds(uint64_t position, uint64_t length) const;
  // The piece that was prepared first is a huge page, or on a machine where others cost as little.
  bool cheap() const { return cheap_; }
  uint8_t* at(uint64_t position) const { return data_ + (position - position_); }
  // No further piece is wanted.
  void Abandon() { abandoned_.store(true, std::memory_order_relaxed); }
  bool abandoned() const { return abandoned_.load(std::memory_order_relaxed); }

 private:
  Window(void* address, uint8_t* data, uint64_t position, uint64_t length)
      : address_(address), data_(data), position_(position), length_(length) {}
  void* const address_; // of the range of addresses that holds `data_` at a multiple of a piece
  uint8_t* const data_;
  const uint64_t position_;
  const uint64_t length_;
  std::atomic<uint64_t> ready_{0}; // a bit for each piece
  std::atomic<bool> abandoned_{false};
  bool cheap_ = false; // written before a piece is ready
};

// The windows of one log. Everything but Halt is called under the lock of the segment; Halt is not,
// since it waits: it belongs to the one job that changes the length of the file.
//
// Idle logs cost nothing: windows are asked for only after kMapAfterBytes came since the log was
// opened, or kMapFlushedAfterBytes since the last flush, since a flush also writes what was
// populated. They double from one piece up to kWindowBytesMax. A log that is flushed is reserved at
// once, and a log that is not after kReserveAfterBytes: a sync within reserved blocks has no new
// length of the file to bring to the disk.
//
// Where less than kZeroBelowBytes come between two flushes, reserved blocks are also filled with
// zeros ahead of the log, so that a sync has no change of the file's extents to bring to the disk
// either: a quarter to a half less for each, at the price of a second write.
class Windows {
 public:
  static constexpr uint64_t kMapAfterBytes = uint64_t{512} << 10;
  static constexpr uint64_t kMapFlushedAfterBytes = uint64_t{16} << 20;
  static constexpr uint64_t kReserveAfterBytes = uint64_t{1} << 20;
  static constexpr uint64_t kZeroBelowBytes = uint64_t{256} << 10;
  static constexpr uint64_t kWindowBytesMin = Window::kPieceBytes;
  static constexpr uint64_t kWindowBytesMax = uint64_t{16} << 20;
  static_assert(kWindowBytesMax / Window::kPieceBytes <= 64, "a bit for each piece");

  // Nothing is reserved or mapped at or above `limit`.
  Windows(std::shared_ptr<File> file, uint64_t limit, bool enabled);
  ~Windows();

  // Batches below this many bytes are copied where a page has to be prepared at its full price:
  // copying frees the JavaScript thread at any size (a page is 0.2 us against 3 to 6), but the
  // helper pays 1.5 to 8 us for the page, by machine. Together they cost less than the calls only
  // while a page takes several batches: a third of it at 1 KiB, a tie at 4 KiB.
  static constexpr size_t kCopyBelowBytes = size_t{4} << 10;
  static constexpr size_t kCopyCheaplyBelowBytes = size_t{192} << 10;

  // Copies to `position`, where a window that holds all of it is ready. False: write it.
  bool Copy(uint64_t position, const void* bytes, size_t length);
  // Comes before the caller writes there: zeros stop short of it. May wait for a few of them.
  void WillWrite(uint64_t position, size_t length);
  // The log was extended by `length` to `end`, by whichever way: takes and asks for windows.
  void Extended(uint64_t end, size_t length);
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
  // Where the zeros of such a request begin; kNever without.
  uint64_t ZerosFrom(uint64_t end) const;
  void Retire(std::shared_ptr<Window> window);

  const std::shared_ptr<File> file_;
  const uint64_t limit_;
  bool enabled_;
  const std::shared_ptr<Slot> slot_;           // shared with the helper
  size_t copy_below_ = kCopyCheaplyBelowBytes; // until a window was not cheap
  uint64_t map_after_ = kMapAfterBytes;
  uint64_t reserve_after_ = kReserveAfterBytes; // 1 once the log was flushed
  uint64_t reserve_bytes_ = kReserveAfterBytes; // next time
  std::shared_ptr<Window> current_;
  uint64_t small_bytes_ = 0; // appended since the last request or flush
  uint64_t all_bytes_ = 0;
  uint64_t since_ask_ = 0; // appended since the last request, flush or not
  uint64_t since_flush_ = 0;
  uint64_t flush_bytes_ = 0; // between two flushes, a running mean
  uint64_t zeroed_end_ = 0;  // zeros were asked for up to here
  uint64_t window_bytes_ = kWindowBytesMin;
  uint64_t ask_at_ = 0;    // no request before the log ends here
  uint64_t asked_at_ = 0;  // where it ended at the last request
  uint64_t asked_end_ = 0; // where what was asked for ends
  bool asked_to_map_ = false;
  // How far ahead of the end a window begins, so that the log is not written there before it is
  // ready: what was appended while a late one was prepared.
  uint64_t lead_ = 0;
  bool late_ = false;
};

} // namespace seglog

#endif // SEGLOG_MAPPING_H_
