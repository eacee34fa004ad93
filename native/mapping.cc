// Windows, and the slot in which the helper hands over the next one. See mapping.h.
#include "mapping.h"

#include "helper.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <cstring>
#include <limits>
#include <mutex>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#include <vector>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace seglog {

namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
// A bound of what is reserved ahead of the end, together with two windows.
constexpr uint64_t kLeadBytesMax = 2 * Windows::kWindowBytesMax;
// Zeros are written in steps, and so far ahead that a writer of small batches meets none of them.
constexpr uint64_t kZeroStepBytes = uint64_t{64} << 10;
// More than this for the first access to a page, and large copies do not pay.
constexpr uint64_t kCheapAccessNs = 500;

std::atomic<uint64_t> mapped_bytes{0};

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Of this thread: how busy the machine is does not count.
uint64_t SpentNs() {
  struct timespec time = {};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1000000000 + static_cast<uint64_t>(time.tv_nsec);
}

// Brings the pages of a piece in, dirty, and into the page tables. A kernel before 5.14 cannot;
// then each first store to a page faults, and finds its reserved block.
Status Populate(uint8_t* piece) {
  int result;
  do {
    result = ::madvise(piece, Window::kPieceBytes, MADV_POPULATE_WRITE);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  return result == 0 || errno == EINVAL ? Status::Ok() : Status::FromErrno(errno);
}

// For virtual machines, where the first access from user space still has the host fill in its own
// tables: on shadow page tables that is 6 us for each page, which the append would pay, and next to
// nothing where pages are huge. Returns nanoseconds for a page.
uint64_t Access(const uint8_t* piece) {
  const uint64_t before = SpentNs();
  for (uint64_t page = 0; page < Window::kPieceBytes; page += PageBytes())
    (void)*static_cast<const volatile uint8_t*>(piece + page);
  return (SpentNs() - before) / (Window::kPieceBytes / PageBytes());
}

} // namespace

Status Window::Map(File* file, uint64_t position, uint64_t length,
                   std::shared_ptr<Window>* result) {
  const Status reserved = file->Reserve(position + length);
  if (!reserved.ok())
    return reserved;
  if (mapped_bytes.fetch_add(length) + length > kMappedBytesMax) {
    mapped_bytes.fetch_sub(length);
    return Status::Of(Code::kTooLarge);
  }
  // A huge page needs an address that is a multiple of it, as its position in the file is.
  void* address = ::mmap(nullptr, length + kPieceBytes, PROT_NONE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) {
    const int error = errno;
    mapped_bytes.fetch_sub(length);
    return Status::FromErrno(error);
  }
  auto* start = static_cast<uint8_t*>(address);
  uint8_t* data = start + (-reinterpret_cast<uintptr_t>(start)) % kPieceBytes;
  std::shared_ptr<Window> window(new Window(address, data, position, length));
  if (::mmap(data, length, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file->fd(),
             static_cast<off_t>(position)) == MAP_FAILED) {
    return Status::FromErrno(errno);
  }
#ifdef MADV_HUGEPAGE
  ::madvise(data, length, MADV_HUGEPAGE);
#endif
  *result = std::move(window);
  return Status::Ok();
}

Status Window::Prepare(uint64_t index) {
  uint8_t* piece = at(piece_position(index));
  const Status populated = Populate(piece);
  if (!populated.ok())
    return populated;
  const uint64_t access_ns = Access(piece);
  const uint64_t ready = ready_.load(std::memory_order_relaxed);
  if (ready == 0)
    cheap_ = access_ns <= kCheapAccessNs;
  ready_.store(ready | uint64_t{1} << index, std::memory_order_release);
  return Status::Ok();
}

bool Window::Holds(uint64_t position, uint64_t length) const {
  if (position < position_ || position >= end() || length > end() - position || length == 0)
    return false;
  const uint64_t first = (position - position_) / kPieceBytes;
  const uint64_t last = (position + length - 1 - position_) / kPieceBytes;
  const uint64_t wanted = (uint64_t{2} << last) - (uint64_t{1} << first);
  return (ready_.load(std::memory_order_acquire) & wanted) == wanted;
}

uint64_t Window::MappedBytes() {
  return mapped_bytes.load();
}

Window::~Window() {
  ::munmap(address_, length_ + kPieceBytes);
  mapped_bytes.fetch_sub(length_);
}

struct Windows::Slot {
  std::mutex mutex;
  std::condition_variable ended;
  std::atomic<bool> answered{false}; // window and status hold the answer to the last request
  std::shared_ptr<Window> window;
  Status status;
  bool asked = false;   // a request is queued, or running and not answered
  bool running = false; // the helper is at it
  bool halted = false;
  uint64_t ticket = 0; // of the last request; an older one does nothing any more

  std::atomic<uint64_t> log_end{0};

  // No zeros are written below; kNever where there are none to be written. Set with the request,
  // and then raised by the helper behind each step, so that a writer below it never meets one.
  std::atomic<uint64_t> zero_at{kNever};
  bool zeroing = false; // the helper is at a step

  void Prepare(File* file, uint64_t own_ticket, uint64_t position, uint64_t length, bool map) {
    std::unique_lock<std::mutex> lock(mutex);
    if (halted || ticket != own_ticket)
      return;
    running = true;
    lock.unlock();
    std::shared_ptr<Window> mapped;
    Status result =
        map ? Window::Map(file, position, length, &mapped) : file->Reserve(position + length);
    lock.lock();
    if (!map && result.ok())
      WriteZeros(file, position + length, &lock);
    zero_at.store(kNever, std::memory_order_release);
    const uint64_t pieces = mapped == nullptr ? 0 : mapped->pieces();
    for (uint64_t i = 0; i < pieces && !halted && !mapped->abandoned() && result.ok(); i++) {
      // Where the log is already, pages are small and cost what they cost.
      if (log_end.load(std::memory_order_relaxed) > mapped->piece_position(i))
        continue;
      lock.unlock();
      result = mapped->Prepare(i);
      lock.lock();
      // It is in use while the others follow.
      if (asked && !halted && result.ok())
        Answer(mapped, result);
    }
    if (asked && !halted)
      Answer(nullptr, result);
    running = false;
    ended.notify_all();
  }

  // From zero_at to `end`, until the writer comes there. What fails is left to the writer to find.
  void WriteZeros(File* file, uint64_t end, std::unique_lock<std::mutex>* lock) {
    static const std::vector<char> zeros(kZeroStepBytes, 0);
    const uint64_t from = zero_at.load(std::memory_order_relaxed);
    uint64_t at = from;
    while (at < end && !halted && zero_at.load(std::memory_order_relaxed) == at) {
      const uint64_t length = std::min(kZeroStepBytes, end - at);
      zeroing = true;
      lock->unlock();
      const Status written = file->Write(at, zeros.data(), length);
      lock->lock();
      zeroing = false;
      ended.notify_all();
      if (!written.ok())
        return;
      at += length;
      // A writer that came meanwhile has put an end to it.
      if (zero_at.load(std::memory_order_relaxed) != kNever)
        zero_at.store(at, std::memory_order_release);
    }
    // So that the next sync does not find them all to do.
    file->StartWriting(from, at - from);
  }

  // REQUIRES: the lock.
  void Answer(std::shared_ptr<Window> prepared, Status result) {
    asked = false;
    window = std::move(prepared);
    status = result;
    answered.store(true, std::memory_order_release);
  }
};

Windows::Windows(std::shared_ptr<File> file, uint64_t limit, bool enabled)
    : file_(std::move(file)), limit_(limit), enabled_(enabled), slot_(std::make_shared<Slot>()) {}

Windows::~Windows() {
  Halt();
}

bool Windows::Copy(uint64_t position, const void* bytes, size_t length) {
  if (current_ == nullptr || length >= copy_below_ || !current_->Holds(position, length))
    return false;
  std::memcpy(current_->at(position), bytes, length);
  return true;
}

void Windows::WillWrite(uint64_t position, size_t length) {
  if (position + length <= slot_->zero_at.load(std::memory_order_acquire))
    return;
  std::unique_lock<std::mutex> lock(slot_->mutex);
  slot_->zero_at.store(kNever, std::memory_order_relaxed);
  slot_->ended.wait(lock, [&] { return !slot_->zeroing; });
}

void Windows::Extended(uint64_t end, size_t length) {
  if (!enabled_)
    return;
  since_flush_ += length;
  slot_->log_end.store(end, std::memory_order_relaxed);
  all_bytes_ += length;
  since_ask_ += length;
  if (length < copy_below_)
    small_bytes_ += length;
  if (current_ != nullptr && end >= current_->end())
    Retire(std::move(current_));
  if (current_ == nullptr)
    Take(end);
  if (end < ask_at_)
    return;
  if (small_bytes_ >= map_after_ && small_bytes_ >= all_bytes_ / 2) {
    AskForWindow(end);
  } else if (since_ask_ >= reserve_after_) {
    const bool zeros = ZerosFrom(end) != kNever;
    if (Ask(end, end, zeros ? kReserveAfterBytes : reserve_bytes_, false) && !zeros)
      reserve_bytes_ = std::min(reserve_bytes_ * 2, kWindowBytesMax);
  }
}

void Windows::Take(uint64_t end) {
  if (!slot_->answered.load(std::memory_order_acquire)) {
    late_ = true;
    return;
  }
  std::unique_lock<std::mutex> lock(slot_->mutex);
  std::shared_ptr<Window> window = std::move(slot_->window);
  const Status status = slot_->status;
  slot_->answered.store(false, std::memory_order_relaxed);
  lock.unlock();
  if (window == nullptr && status.ok() && !asked_to_map_) {
    ask_at_ = asked_at_ + (asked_end_ - asked_at_) / 2;
    return;
  }
  const uint64_t progress = end - asked_at_;
  lead_ = late_ ? std::min(progress + progress / 4, kLeadBytesMax) : lead_ / 2;
  if (window == nullptr && status.ok()) {
    ask_at_ = end; // the writer was faster
  } else if (window == nullptr) {
    // Full or short of memory: it may work later, when there is as much more to write.
    if (status.code == Code::kUnsupported)
      enabled_ = false;
    ask_at_ = end + kWindowBytesMax;
  } else if (end >= window->end()) {
    ask_at_ = end;
    Retire(std::move(window));
  } else {
    // The next one is due when this one is used: sooner would dirty memory for a log that may go
    // idle, later would not leave the helper the time.
    ask_at_ = window->position() + 1;
    current_ = std::move(window);
    copy_below_ = current_->cheap() ? kCopyCheaplyBelowBytes : kCopyBelowBytes;
  }
}

void Windows::AskForWindow(uint64_t end) {
  uint64_t position = end + lead_;
  if (current_ != nullptr)
    position = std::max(position, current_->end());
  position += -position % Window::kPieceBytes;
  if (Ask(end, position, window_bytes_, true))
    window_bytes_ = std::min(window_bytes_ * 2, kWindowBytesMax);
}

uint64_t Windows::ZerosFrom(uint64_t end) const {
  const bool flushed = reserve_after_ == 1 && flush_bytes_ < kZeroBelowBytes;
  if (!flushed || current_ != nullptr)
    return kNever;
  const uint64_t from = std::max(end + kZeroStepBytes, zeroed_end_);
  return from + -from % PageBytes();
}

bool Windows::Ask(uint64_t end, uint64_t position, uint64_t length, bool map) {
  uint64_t left = position < limit_ ? limit_ - position : 0;
  if (map)
    left -= left % Window::kPieceBytes;
  if (left == 0) {
    ask_at_ = kNever;
    return false;
  }
  length = std::min(length, left);
  std::unique_lock<std::mutex> lock(slot_->mutex);
  if (slot_->halted || slot_->asked)
    return false;
  slot_->asked = true;
  const uint64_t ticket = ++slot_->ticket;
  const uint64_t zeros_from = map ? kNever : ZerosFrom(end);
  slot_->zero_at.store(zeros_from, std::memory_order_release);
  lock.unlock();
  const bool posted = Helper::Post([slot = slot_, file = file_, ticket, position, length, map] {
    slot->Prepare(file.get(), ticket, position, length, map);
  });
  if (posted) {
    late_ = current_ == nullptr;
    asked_at_ = end;
    asked_end_ = position + length;
    asked_to_map_ = map;
    if (zeros_from != kNever)
      zeroed_end_ = asked_end_;
    ask_at_ = kNever; // until it is answered
    small_bytes_ = all_bytes_ = since_ask_ = 0;
  } else {
    lock.lock();
    slot_->asked = false;
    slot_->zero_at.store(kNever, std::memory_order_relaxed);
    ask_at_ = end + kWindowBytesMin;
  }
  return posted;
}

void Windows::Retire(std::shared_ptr<Window> window) {
  if (window == nullptr)
    return;
  window->Abandon();
  // Where the helper does not take it, it goes here.
  Helper::Post([window = std::move(window)]() mutable { window.reset(); });
}

void Windows::Flushed() {
  if (all_bytes_ > 0) {
    map_after_ = kMapFlushedAfterBytes;
    reserve_after_ = 1;
  }
  small_bytes_ = all_bytes_ = 0;
  window_bytes_ = kWindowBytesMin;
  if (since_flush_ > 0)
    flush_bytes_ = (flush_bytes_ * 7 + since_flush_) / 8;
  since_flush_ = 0;
}

bool Windows::Idle() const {
  std::lock_guard<std::mutex> lock(slot_->mutex);
  return current_ == nullptr && !slot_->asked && !slot_->running && slot_->window == nullptr;
}

void Windows::Halt() {
  std::unique_lock<std::mutex> lock(slot_->mutex);
  slot_->halted = true;
  slot_->ticket++;
  slot_->ended.wait(lock, [&] { return !slot_->running; });
  slot_->asked = false;
}

void Windows::Drop() {
  std::unique_lock<std::mutex> lock(slot_->mutex);
  std::shared_ptr<Window> window = std::move(slot_->window);
  slot_->answered.store(false, std::memory_order_relaxed);
  lock.unlock();
  Retire(std::move(current_));
  Retire(std::move(window));
}

void Windows::Resume() {
  std::lock_guard<std::mutex> lock(slot_->mutex);
  slot_->halted = false;
  slot_->log_end.store(0, std::memory_order_relaxed); // it may be shorter now
  ask_at_ = lead_ = zeroed_end_ = 0;
}

} // namespace seglog
