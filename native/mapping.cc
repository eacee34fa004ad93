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
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

namespace seglog {

namespace {

constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
// The lock of the address space is held over one call: short ones let other threads fault.
constexpr uint64_t kPopulateStep = uint64_t{1} << 20;
// A bound of what is reserved ahead of the end, together with two windows.
constexpr uint64_t kLeadBytesMax = 2 * Windows::kWindowBytesMax;
// Below this a window is not worth its mapping.
constexpr uint64_t kWorthwhileBytes = uint64_t{64} << 10;

std::atomic<uint64_t> mapped_bytes{0};

uint64_t PageBytes() {
  static const auto bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  return bytes;
}

// Brings the pages in, dirty, and into the page tables. A kernel before 5.14 cannot; then each
// first store to a page faults, and finds its reserved block. The load of each page is for virtual
// machines, where the first access from user space still has the host fill in its own tables: on
// shadow page tables that is 6 us for each page, which the append would pay.
Status Populate(const uint8_t* data, uint64_t length) {
  auto* base = const_cast<uint8_t*>(data);
  for (uint64_t done = 0; done < length; done += kPopulateStep) {
    const uint64_t step = std::min(kPopulateStep, length - done);
    int result;
    do {
      result = ::madvise(base + done, step, MADV_POPULATE_WRITE);
    } while (result != 0 && (errno == EINTR || errno == EAGAIN));
    if (result != 0)
      return errno == EINVAL ? Status::Ok() : Status::FromErrno(errno);
    for (uint64_t page = done; page < done + step; page += PageBytes()) {
      (void)*static_cast<const volatile uint8_t*>(data + page);
    }
  }
  return Status::Ok();
}

} // namespace

Status Window::Prepare(File* file, uint64_t position, uint64_t length,
                       std::unique_ptr<Window>* result) {
  const Status reserved = file->Reserve(position + length);
  if (!reserved.ok())
    return reserved;
  if (mapped_bytes.fetch_add(length) + length > kMappedBytesMax) {
    mapped_bytes.fetch_sub(length);
    return Status::Of(Code::kTooLarge);
  }
  void* data = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd(),
                      static_cast<off_t>(position));
  if (data == MAP_FAILED) {
    const int error = errno;
    mapped_bytes.fetch_sub(length);
    return Status::FromErrno(error);
  }
  std::unique_ptr<Window> window(new Window(static_cast<uint8_t*>(data), position, length));
  const Status populated = Populate(window->data_, length);
  if (populated.ok())
    *result = std::move(window);
  return populated;
}

uint64_t Window::MappedBytes() {
  return mapped_bytes.load();
}

Window::~Window() {
  ::munmap(data_, length_);
  mapped_bytes.fetch_sub(length_);
}

struct Windows::Slot {
  std::mutex mutex;
  std::condition_variable ended;
  std::atomic<bool> answered{false}; // window and status hold the answer to the last request
  std::unique_ptr<Window> window;
  Status status;
  bool asked = false;   // a request is queued or running
  bool running = false; // the helper is at it
  bool halted = false;
  uint64_t ticket = 0; // of the last request; an older one does nothing any more

  void Prepare(File* file, uint64_t own_ticket, uint64_t position, uint64_t length, bool map) {
    std::unique_lock<std::mutex> lock(mutex);
    if (halted || ticket != own_ticket)
      return;
    running = true;
    lock.unlock();
    std::unique_ptr<Window> prepared;
    const Status result =
        map ? Window::Prepare(file, position, length, &prepared) : file->Reserve(position + length);
    lock.lock();
    running = asked = false;
    if (!halted) {
      window = std::move(prepared);
      status = result;
      answered.store(true, std::memory_order_release);
    }
    ended.notify_all();
  }
};

Windows::Windows(std::shared_ptr<File> file, uint64_t limit, bool enabled)
    : file_(std::move(file)), limit_(limit), enabled_(enabled), slot_(std::make_shared<Slot>()) {}

Windows::~Windows() {
  Halt();
}

bool Windows::Copy(uint64_t position, const void* bytes, size_t length) {
  if (current_ == nullptr || position < current_->position())
    return false;
  if (position > current_->end() || length > current_->end() - position)
    return false;
  std::memcpy(current_->at(position), bytes, length);
  return true;
}

void Windows::Extended(uint64_t end, size_t length, bool small) {
  if (!enabled_)
    return;
  all_bytes_ += length;
  since_ask_ += length;
  if (small)
    small_bytes_ += length;
  if (current_ != nullptr && end >= current_->end())
    Retire(std::move(current_));
  if (current_ == nullptr)
    Take(end);
  if (end < ask_at_)
    return;
  if (small_bytes_ >= kMapAfterBytes && small_bytes_ >= all_bytes_ / 2) {
    AskForWindow(end);
  } else if (since_ask_ >= kReserveAfterBytes) {
    Ask(end, end, kWindowBytesMax, false);
  }
}

void Windows::Take(uint64_t end) {
  if (!slot_->answered.load(std::memory_order_acquire)) {
    late_ = true;
    return;
  }
  std::unique_lock<std::mutex> lock(slot_->mutex);
  std::unique_ptr<Window> window = std::move(slot_->window);
  const Status status = slot_->status;
  slot_->answered.store(false, std::memory_order_relaxed);
  lock.unlock();
  if (window == nullptr && status.ok()) {
    ask_at_ = asked_at_ + (asked_end_ - asked_at_) / 2; // reserved only
    return;
  }
  const uint64_t progress = end - asked_at_;
  lead_ = late_ ? std::min(progress + progress / 4, kLeadBytesMax) : lead_ / 2;
  if (window == nullptr) {
    // Full or short of memory: it may work later, when there is as much more to write.
    if (status.code == Code::kUnsupported)
      enabled_ = false;
    ask_at_ = end + kWindowBytesMax;
  } else if (end >= window->end()) {
    ask_at_ = end; // the writer was faster
    Retire(std::move(window));
  } else {
    // The next one is due when this one is half used: sooner would dirty memory for a log that may
    // go idle, later would not leave the helper the time.
    ask_at_ = window->position() + (window->end() - window->position()) / 2;
    current_ = std::move(window);
  }
}

void Windows::AskForWindow(uint64_t end) {
  uint64_t position = end + lead_;
  if (current_ != nullptr)
    position = std::max(position, current_->end());
  if (Ask(end, position - position % PageBytes(), window_bytes_, true))
    window_bytes_ = std::min(window_bytes_ * 2, kWindowBytesMax);
}

bool Windows::Ask(uint64_t end, uint64_t position, uint64_t length, bool map) {
  if (position >= limit_ || limit_ - position < kWorthwhileBytes) {
    ask_at_ = kNever;
    return false;
  }
  length = std::min(length, limit_ - position);
  std::unique_lock<std::mutex> lock(slot_->mutex);
  if (slot_->halted || slot_->asked)
    return false;
  slot_->asked = true;
  const uint64_t ticket = ++slot_->ticket;
  lock.unlock();
  const bool posted = Helper::Post([slot = slot_, file = file_, ticket, position, length, map] {
    slot->Prepare(file.get(), ticket, position, length, map);
  });
  if (posted) {
    late_ = current_ == nullptr;
    asked_at_ = end;
    asked_end_ = position + length;
    ask_at_ = kNever; // until it is answered
    small_bytes_ = all_bytes_ = since_ask_ = 0;
  } else {
    lock.lock();
    slot_->asked = false;
    ask_at_ = end + kWindowBytesMin;
  }
  return posted;
}

void Windows::Retire(std::unique_ptr<Window> window) {
  if (window == nullptr)
    return;
  // A task is copyable; the pointer is not. Where the helper does not take it, it goes here.
  std::shared_ptr<Window> shared(std::move(window));
  Helper::Post([shared = std::move(shared)]() mutable { shared.reset(); });
}

void Windows::Flushed() {
  small_bytes_ = all_bytes_ = 0;
  window_bytes_ = kWindowBytesMin;
}

bool Windows::Idle() const {
  std::lock_guard<std::mutex> lock(slot_->mutex);
  return current_ == nullptr && !slot_->asked && slot_->window == nullptr;
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
  std::unique_ptr<Window> window = std::move(slot_->window);
  slot_->answered.store(false, std::memory_order_relaxed);
  lock.unlock();
  Retire(std::move(current_));
  Retire(std::move(window));
}

void Windows::Resume() {
  std::lock_guard<std::mutex> lock(slot_->mutex);
  slot_->halted = false;
  ask_at_ = lead_ = 0;
}

} // namespace seglog
