// transferSend, transferHold, transferStart, transferCancel and transferPending of src/native.ts:
// they put transfers (transfer.h) on the event loop of their environment.
//
// A transfer is held (parts read, nothing sent), then either gone at once or watched: what the
// socket did not take waits for it to be writable. The watch lies on a duplicate of the descriptor,
// as libuv refuses a second handle on one that it owns; the duplicate also keeps the socket from
// being another one by the time the loop looks at it. Each turn sends a bounded number of bytes, so
// that one fast reader does not starve the rest of the loop.
//
// What a waiting transfer needs of JavaScript lies in one private array: the callback and then the
// bytes. When the environment ends, a cleanup hook drops every transfer and lets the loop finish
// closing their handles; no callback runs after that.
//
// Thread: the JavaScript thread of the environment.
#include "bindings.h"
#include "transfer.h"

#include <cerrno>
#include <cmath>
#include <csignal>
#include <fcntl.h>
#include <unistd.h>
#include <unordered_map>
#include <utility>
#include <uv.h>

namespace seglog {

namespace {

// The 1 MiB that Kafka's consumers ask for by default (max.partition.fetch.bytes), with headers.
constexpr uint64_t kTurnBytes = (1 << 20) + (64 << 10);
constexpr uint32_t kPartsMax = 65536;
constexpr uint32_t kNumbersPerSlice = 3;
constexpr double kSafeIntegerMax = 9007199254740991.0;

// True for a whole number in [0, max]; written so that NaN is none.
bool ReadInteger(napi_env env, napi_value value, double max, double* number) {
  return napi_get_value_double(env, value, number) == napi_ok && *number >= 0 && *number <= max &&
         *number == std::floor(*number);
}

class Transfers;

struct Transfer {
  Transfers* owner;
  int64_t id;
  Outgoing outgoing;
  napi_ref kept = nullptr;
  napi_async_context context = nullptr;
  int socket = -1; // the duplicate, or -1 while held
  uv_poll_t poll = {};
};

class Transfers {
 public:
  Transfers(napi_env env, uv_loop_t* loop) : env_(env), loop_(loop) {
    napi_add_async_cleanup_hook(env, OnEnvironmentEnd, this, &hook_);
  }

  // Sends what the socket takes now. Returns 0, the id of a transfer that waits for it, or a
  // status.
  int64_t Send(int socket, napi_value parts, napi_value done, Status* failure);
  int64_t Hold(napi_value parts, Status* failure);
  int64_t Start(int64_t id, int socket, napi_value done, Status* failure);
  void Cancel(int64_t id);
  size_t pending() const { return transfers_.size(); }

 private:
  static void OnEnvironmentEnd(napi_async_cleanup_hook_handle handle, void* self);
  static void OnWritable(uv_poll_t* poll, int status, int events);
  static void OnClosed(uv_handle_t* poll);

  Status Parse(napi_value parts, Outgoing* outgoing);
  bool ParseSlice(napi_value parts, uint32_t index, double numbers[kNumbersPerSlice]);
  Transfer* Add(Outgoing outgoing, napi_value parts);
  void Keep(Transfer* transfer, napi_value parts);
  Status Watch(Transfer* transfer, int socket, napi_value done);
  void Settle(Transfer* transfer, Status status);
  void Drop(Transfer* transfer);
  void EndWhenClosed();

  napi_env env_;
  uv_loop_t* loop_;
  napi_async_cleanup_hook_handle hook_ = nullptr;
  std::unordered_map<int64_t, Transfer*> transfers_;
  int64_t last_id_ = 0;
  size_t closing_ = 0; // handles that the loop has not let go of yet
  bool ended_ = false;
  Outgoing spare_; // empty; its memory serves the next transfer
};

int64_t Transfers::Send(int socket, napi_value parts, napi_value done, Status* failure) {
  // Reading the parts may run a getter, and that may send: so the spare is taken, not used in
  // place.
  Outgoing outgoing = std::move(spare_);
  outgoing.Clear();
  *failure = Parse(parts, &outgoing);
  if (failure->ok())
    *failure = outgoing.Send(socket, kTurnBytes);
  if (failure->ok() && !outgoing.empty()) {
    Transfer* transfer = Add(std::move(outgoing), parts);
    *failure = Watch(transfer, socket, done);
    if (failure->ok())
      return transfer->id;
    Drop(transfer);
    return 0;
  }
  outgoing.Clear();
  spare_ = std::move(outgoing);
  return 0;
}

int64_t Transfers::Hold(napi_value parts, Status* failure) {
  Outgoing outgoing;
  *failure = Parse(parts, &outgoing);
  if (!failure->ok())
    return 0;
  return Add(std::move(outgoing), parts)->id;
}

int64_t Transfers::Start(int64_t id, int socket, napi_value done, Status* failure) {
  const auto found = transfers_.find(id);
  if (found == transfers_.end() || found->second->socket >= 0) {
    *failure = Status::Of(Code::kClosed);
    return 0;
  }
  Transfer* transfer = found->second;
  *failure = transfer->outgoing.Send(socket, kTurnBytes);
  if (failure->ok() && !transfer->outgoing.empty())
    *failure = Watch(transfer, socket, done);
  if (failure->ok() && !transfer->outgoing.empty())
    return id;
  Drop(transfer);
  return 0;
}

void Transfers::Cancel(int64_t id) {
  const auto found = transfers_.find(id);
  if (found != transfers_.end())
    Drop(found->second);
}

Status Transfers::Parse(napi_value parts, Outgoing* outgoing) {
  const Status bad = Status::Of(Code::kBadArgument);
  bool is_array = false;
  uint32_t length = 0;
  if (napi_is_array(env_, parts, &is_array) != napi_ok || !is_array)
    return bad;
  if (napi_get_array_length(env_, parts, &length) != napi_ok)
    return bad;
  uint32_t count = 0;
  for (uint32_t i = 0; i < length;) {
    if (++count > kPartsMax)
      return bad;
    napi_value part;
    napi_typedarray_type type;
    void* bytes = nullptr;
    size_t size = 0;
    double numbers[kNumbersPerSlice];
    if (napi_get_element(env_, parts, i, &part) != napi_ok)
      return bad;
    if (napi_get_typedarray_info(env_, part, &type, &size, &bytes, nullptr, nullptr) == napi_ok) {
      if (type != napi_uint8_array)
        return bad;
      outgoing->AddBytes(static_cast<const uint8_t*>(bytes), size);
      i++;
      continue;
    }
    if (length - i < kNumbersPerSlice || !ParseSlice(parts, i, numbers))
      return bad;
    std::shared_ptr<File> file;
    const Status status =
        Environment::Of(env_)->SegmentFile(static_cast<int32_t>(numbers[0]), &file);
    if (!status.ok())
      return status;
    outgoing->AddSlice(std::move(file), static_cast<uint64_t>(numbers[1]),
                       static_cast<uint64_t>(numbers[2]));
    i += kNumbersPerSlice;
  }
  return Status::Ok();
}

bool Transfers::ParseSlice(napi_value parts, uint32_t index, double numbers[kNumbersPerSlice]) {
  for (uint32_t i = 0; i < kNumbersPerSlice; i++) {
    napi_value value;
    if (napi_get_element(env_, parts, index + i, &value) != napi_ok)
      return false;
    if (!ReadInteger(env_, value, i == 0 ? INT32_MAX : kSafeIntegerMax, &numbers[i]))
      return false;
  }
  return true;
}

Transfer* Transfers::Add(Outgoing outgoing, napi_value parts) {
  auto* transfer = new Transfer{this, ++last_id_, std::move(outgoing)};
  transfers_.emplace(transfer->id, transfer);
  Keep(transfer, parts);
  return transfer;
}

// The caller may use its array again at once; only the bytes themselves have to stay.
void Transfers::Keep(Transfer* transfer, napi_value parts) {
  napi_value kept;
  uint32_t length = 0;
  uint32_t count = 1; // the first place is for the callback
  napi_create_array(env_, &kept);
  napi_get_array_length(env_, parts, &length);
  for (uint32_t i = 0; i < length; i++) {
    napi_value part;
    bool bytes = false;
    napi_get_element(env_, parts, i, &part);
    napi_is_typedarray(env_, part, &bytes);
    if (bytes)
      napi_set_element(env_, kept, count++, part);
  }
  napi_create_reference(env_, kept, 1, &transfer->kept);
}

Status Transfers::Watch(Transfer* transfer, int socket, napi_value done) {
  if (ended_)
    return Status::Of(Code::kClosed);
  napi_value kept;
  napi_value name;
  napi_get_reference_value(env_, transfer->kept, &kept);
  napi_set_element(env_, kept, 0, done);
  napi_create_string_latin1(env_, "seglog:transfer", NAPI_AUTO_LENGTH, &name);
  napi_async_init(env_, nullptr, name, &transfer->context);

  const int duplicate = fcntl(socket, F_DUPFD_CLOEXEC, 0);
  if (duplicate < 0)
    return Status::FromErrno(errno);
  if (const int error = uv_poll_init(loop_, &transfer->poll, duplicate)) {
    close(duplicate);
    return Status::FromErrno(-error);
  }
  transfer->poll.data = transfer;
  transfer->socket = duplicate;
  const int error = uv_poll_start(&transfer->poll, UV_WRITABLE, OnWritable);
  return error == 0 ? Status::Ok() : Status::FromErrno(-error);
}

void Transfers::OnWritable(uv_poll_t* poll, int error, int events) {
  auto* transfer = static_cast<Transfer*>(poll->data);
  Status status = transfer->outgoing.Send(transfer->socket, kTurnBytes);
  if (status.ok() && !transfer->outgoing.empty()) {
    // libuv stops watching after an error; a send tells a broken connection more precisely.
    if (error == 0)
      return;
    status = Status::FromErrno(-error);
  }
  transfer->owner->Settle(transfer, status);
}

void Transfers::Settle(Transfer* transfer, Status status) {
  napi_handle_scope scope;
  napi_value kept, done, global, arguments[2];
  napi_open_handle_scope(env_, &scope);
  napi_get_reference_value(env_, transfer->kept, &kept);
  napi_get_element(env_, kept, 0, &done);
  napi_get_global(env_, &global);
  napi_create_int32(env_, static_cast<int32_t>(status.code), &arguments[0]);
  napi_create_int32(env_, status.error, &arguments[1]);
  const napi_async_context context = std::exchange(transfer->context, nullptr);
  // First, as the callback may well start the next transfer of this socket.
  Drop(transfer);
  const napi_status called = napi_make_callback(env_, context, global, done, 2, arguments, nullptr);
  if (called == napi_pending_exception) {
    napi_value error;
    if (napi_get_and_clear_last_exception(env_, &error) == napi_ok) {
      napi_fatal_exception(env_, error);
    }
  }
  napi_async_destroy(env_, context);
  napi_close_handle_scope(env_, scope);
}

void Transfers::Drop(Transfer* transfer) {
  transfers_.erase(transfer->id);
  transfer->outgoing.Clear();
  napi_delete_reference(env_, transfer->kept);
  if (transfer->context != nullptr)
    napi_async_destroy(env_, transfer->context);
  if (transfer->socket < 0) {
    delete transfer;
    return;
  }
  closing_++;
  uv_close(reinterpret_cast<uv_handle_t*>(&transfer->poll), OnClosed);
  close(transfer->socket);
}

void Transfers::OnClosed(uv_handle_t* poll) {
  auto* transfer = static_cast<Transfer*>(poll->data);
  Transfers* owner = transfer->owner;
  delete transfer;
  owner->closing_--;
  owner->EndWhenClosed();
}

void Transfers::OnEnvironmentEnd(napi_async_cleanup_hook_handle, void* self) {
  auto* transfers = static_cast<Transfers*>(self);
  transfers->ended_ = true;
  while (!transfers->transfers_.empty())
    transfers->Drop(transfers->transfers_.begin()->second);
  transfers->EndWhenClosed();
}

// The environment waits for its hook to be removed, and may free this object right after.
void Transfers::EndWhenClosed() {
  if (ended_ && closing_ == 0)
    napi_remove_async_cleanup_hook(std::exchange(hook_, nullptr));
}

Transfers* TransfersOf(const Napi::CallbackInfo& info) {
  return static_cast<Transfers*>(Environment::Of(info.Env())->transfers.get());
}

Napi::Value Result(const Napi::CallbackInfo& info, int64_t id, Status failure) {
  if (!failure.ok())
    return Environment::Of(info.Env())->Fail(info.Env(), failure);
  return Napi::Number::New(info.Env(), static_cast<double>(id));
}

Napi::Value TransferSend(const Napi::CallbackInfo& info) {
  Status failure = Status::Of(Code::kBadArgument);
  double socket;
  if (!ReadInteger(info.Env(), info[0], INT32_MAX, &socket) || !info[2].IsFunction()) {
    return Result(info, 0, failure);
  }
  const int64_t id = TransfersOf(info)->Send(static_cast<int>(socket), info[1], info[2], &failure);
  return Result(info, id, failure);
}

Napi::Value TransferHold(const Napi::CallbackInfo& info) {
  Status failure;
  const int64_t id = TransfersOf(info)->Hold(info[0], &failure);
  return Result(info, id, failure);
}

Napi::Value TransferStart(const Napi::CallbackInfo& info) {
  Status failure = Status::Of(Code::kBadArgument);
  double held, socket;
  if (!ReadInteger(info.Env(), info[0], kSafeIntegerMax, &held) ||
      !ReadInteger(info.Env(), info[1], INT32_MAX, &socket) || !info[2].IsFunction()) {
    return Result(info, 0, failure);
  }
  const int64_t id = TransfersOf(info)->Start(static_cast<int64_t>(held), static_cast<int>(socket),
                                              info[2], &failure);
  return Result(info, id, failure);
}

void TransferCancel(const Napi::CallbackInfo& info) {
  double id;
  if (ReadInteger(info.Env(), info[0], kSafeIntegerMax, &id)) {
    TransfersOf(info)->Cancel(static_cast<int64_t>(id));
  }
}

Napi::Value TransferPending(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), static_cast<double>(TransfersOf(info)->pending()));
}

} // namespace

void ExportTransfer(Napi::Env env, Napi::Object exports) {
  // Node ignores SIGPIPE; a program that embeds Node may not, and would die with the first reader.
  struct sigaction action = {};
  if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL) {
    signal(SIGPIPE, SIG_IGN);
  }
  uv_loop_t* loop = nullptr;
  if (napi_get_uv_event_loop(env, &loop) != napi_ok)
    return;
  Environment::Of(env)->transfers = std::make_shared<Transfers>(env, loop);
  exports.Set("transferSend", Napi::Function::New<TransferSend>(env, "transferSend"));
  exports.Set("transferHold", Napi::Function::New<TransferHold>(env, "transferHold"));
  exports.Set("transferStart", Napi::Function::New<TransferStart>(env, "transferStart"));
  exports.Set("transferCancel", Napi::Function::New<TransferCancel>(env, "transferCancel"));
  exports.Set("transferPending", Napi::Function::New<TransferPending>(env, "transferPending"));
}

} // namespace seglog
