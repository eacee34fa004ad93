// The segment functions of src/native.ts: arguments in, one call of the engine, numbers out. Hot
// functions make no object of JavaScript; jobs of the pool hold their segment by a reference.
#include "arguments.h"
#include "segment_table.h"
#include "work.h"

namespace seglog {

namespace {

// Slots of `results`: mirrors Result in src/native.ts.
enum Slot : size_t {
  kBaseOffset = 0,
  kLastOffset = 1,
  kMaxTimestamp = 2,
  kPosition = 3,
  kLength = 4,
  kBatches = 5,
  kNextOffset = 6,
  kOffsetOfMaxTimestamp = 7,
  kFileBytes = 8,
  kDetail = 9,
  kLeaderEpoch = 10,
};

constexpr int32_t kFromClient = 1;
constexpr int32_t kFromLeader = 2;

Status SegmentOf(const Environment* environment, int32_t handle, std::shared_ptr<Segment>** found) {
  return static_cast<SegmentTable*>(environment->segments.get())->Get(handle, found);
}

// The segment that the first argument names.
template <size_t Count>
Status SegmentOf(const Arguments<Count>& arguments, std::shared_ptr<Segment>** found) {
  int32_t handle;
  if (!arguments.Int32(0, 0, INT32_MAX, &handle))
    return Status::Of(Code::kBadArgument);
  return SegmentOf(arguments.environment(), handle, found);
}

void PutRange(double* results, const BatchRange& range) {
  results[kBaseOffset] = static_cast<double>(range.base_offset);
  results[kLastOffset] = static_cast<double>(range.last_offset);
  results[kMaxTimestamp] = static_cast<double>(range.max_timestamp);
  results[kPosition] = static_cast<double>(range.position);
  results[kLength] = static_cast<double>(range.length);
  results[kBatches] = range.batches;
  results[kLeaderEpoch] = range.leader_epoch;
}

napi_value Append(napi_env env, napi_callback_info info) {
  const Arguments<6> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  uint8_t* bytes;
  size_t held, offset, length;
  int32_t epoch, flags, record = -1;
  Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return arguments.Return(status);
  const bool good = arguments.Bytes(1, &bytes, &held) && arguments.Size(2, held, &offset) &&
                    arguments.Size(3, held - offset, &length) &&
                    arguments.Int32(4, INT32_MIN, INT32_MAX, &epoch) &&
                    arguments.Int32(5, kFromClient, kFromLeader, &flags);
  if (!good)
    return arguments.Return(Status::Of(Code::kBadArgument));
  BatchRange range;
  const auto source = flags == kFromClient ? Segment::Source::kClient : Segment::Source::kLeader;
  status = (*segment)->Append(bytes + offset, length, source, epoch, &range, &record);
  arguments.results()[kDetail] = record;
  if (status.ok())
    PutRange(arguments.results(), range);
  return arguments.Return(status);
}

napi_value Locate(napi_env env, napi_callback_info info) {
  const Arguments<4> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  int64_t offset, bytes_max, limit_offset;
  Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return arguments.Return(status);
  const bool good = arguments.Int64(1, 0, &offset) && arguments.Int64(2, 0, &bytes_max) &&
                    arguments.Int64(3, 0, &limit_offset);
  if (!good)
    return arguments.Return(Status::Of(Code::kBadArgument));
  BatchRange range;
  status = (*segment)->Locate(offset, static_cast<uint64_t>(bytes_max), limit_offset, &range);
  if (status.ok())
    PutRange(arguments.results(), range);
  return arguments.Return(status);
}

napi_value LocateTimestamp(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  int64_t timestamp;
  Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return arguments.Return(status);
  if (!arguments.Int64(1, -9007199254740991.0, &timestamp)) {
    return arguments.Return(Status::Of(Code::kBadArgument));
  }
  BatchRange range;
  status = (*segment)->LocateTimestamp(timestamp, &range);
  if (status.ok())
    PutRange(arguments.results(), range);
  return arguments.Return(status);
}

napi_value Read(napi_env env, napi_callback_info info) {
  const Arguments<5> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  uint8_t* target;
  size_t held, position, length, target_offset, read = 0;
  Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return arguments.Return(status);
  const bool good = arguments.Size(1, format::kOffsetMax, &position) &&
                    arguments.Bytes(3, &target, &held) && arguments.Size(4, held, &target_offset) &&
                    arguments.Size(2, held - target_offset, &length) && length <= INT32_MAX;
  if (!good)
    return arguments.Return(Status::Of(Code::kBadArgument));
  status = (*segment)->Read(position, target + target_offset, length, &read);
  return arguments.Return(status, static_cast<int32_t>(read));
}

napi_value Info(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  SegmentInfo found;
  Status status = SegmentOf(arguments, &segment);
  if (status.ok())
    status = (*segment)->Info(&found);
  if (!status.ok())
    return arguments.Return(status);
  double* results = arguments.results();
  results[kBaseOffset] = static_cast<double>(found.base_offset);
  results[kNextOffset] = static_cast<double>(found.next_offset);
  results[kMaxTimestamp] = static_cast<double>(found.max_timestamp);
  results[kOffsetOfMaxTimestamp] = static_cast<double>(found.offset_of_max_timestamp);
  results[kLength] = static_cast<double>(found.size);
  results[kFileBytes] = static_cast<double>(found.file_bytes);
  return arguments.Return(status);
}

// The properties of SegmentOptions in src/native.ts.
bool ReadOptions(napi_env env, napi_value object, SegmentOptions* options) {
  const auto boolean = [&](const char* name, bool* target) {
    napi_value value;
    return napi_get_named_property(env, object, name, &value) == napi_ok &&
           napi_get_value_bool(env, value, target) == napi_ok;
  };
  const auto number = [&](const char* name, double low, double high, double* target) {
    napi_value value;
    return napi_get_named_property(env, object, name, &value) == napi_ok &&
           napi_get_value_double(env, value, target) == napi_ok && *target >= low &&
           *target <= high;
  };
  double segment_bytes, interval;
  napi_valuetype type;
  if (napi_typeof(env, object, &type) != napi_ok || type != napi_object)
    return false;
  const bool good = boolean("readOnly", &options->read_only) &&
                    boolean("recover", &options->recover) && boolean("mapped", &options->mapped) &&
                    number("segmentBytes", 1, format::kSegmentBytesMax, &segment_bytes) &&
                    number("indexIntervalBytes", 0, INT32_MAX, &interval);
  if (!good)
    return false;
  options->segment_bytes = static_cast<uint64_t>(segment_bytes);
  options->index_interval_bytes = static_cast<uint32_t>(interval);
  return true;
}

struct Named {
  std::string path;
  int64_t base_offset;
  SegmentOptions options;
};

bool ReadNamed(const Arguments<3>& arguments, Named* named) {
  return arguments.Text(0, 4096, &named->path) && arguments.Int64(1, 0, &named->base_offset) &&
         named->base_offset <= format::kOffsetMax &&
         ReadOptions(arguments.env(), arguments.value(2), &named->options);
}

SegmentTable* TableOf(napi_env env) {
  Environment* environment = Environment::Of(Napi::Env(env));
  return environment == nullptr ? nullptr : static_cast<SegmentTable*>(environment->segments.get());
}

napi_value Create(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  Named named;
  if (!ReadNamed(arguments, &named))
    return arguments.Return(Status::Of(Code::kBadArgument));
  std::shared_ptr<Segment> segment;
  const Status status = Segment::Create(named.path, named.base_offset, named.options, &segment);
  if (!status.ok())
    return arguments.Return(status);
  const int32_t handle = TableOf(env)->Add(std::move(segment));
  return arguments.Return(handle > 0 ? status : Status::Of(Code::kTooManyFiles), handle);
}

struct Opening {
  Named named;
  std::shared_ptr<Segment> segment;
  SegmentReport report;
};

napi_value MakeReport(napi_env env, Opening* opening) {
  SegmentTable* table = TableOf(env);
  SegmentInfo state;
  napi_value object, rebuilt;
  if (table == nullptr || napi_create_object(env, &object) != napi_ok)
    return nullptr;
  const auto set = [&](const char* name, double number) {
    napi_value value;
    if (napi_create_double(env, number, &value) != napi_ok)
      return;
    napi_set_named_property(env, object, name, value);
  };
  const SegmentReport& report = opening->report;
  (void)opening->segment->Info(&state); // fails for the size of the file alone, not wanted here
  set("validBytes", static_cast<double>(report.scan.valid_end));
  set("fileBytes", static_cast<double>(report.file_bytes));
  set("nextOffset", static_cast<double>(state.next_offset));
  set("maxTimestamp", static_cast<double>(state.max_timestamp));
  set("damage", static_cast<double>(static_cast<int32_t>(report.scan.damage)));
  napi_get_boolean(env, report.index_rebuilt, &rebuilt);
  napi_set_named_property(env, object, "indexRebuilt", rebuilt);
  set("handle", table->Add(std::move(opening->segment)));
  return object;
}

napi_value Open(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  auto opening = std::make_shared<Opening>();
  if (!ReadNamed(arguments, &opening->named)) {
    return RejectedPromise(env, Status::Of(Code::kBadArgument));
  }
  const auto execute = [opening] {
    const Named& named = opening->named;
    return Segment::Open(named.path, named.base_offset, named.options, &opening->segment,
                         &opening->report);
  };
  return RunInPool(env, "seglog.segmentOpen", execute,
                   [opening](napi_env env) { return MakeReport(env, opening.get()); });
}

napi_value Flush(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return RejectedPromise(env, status);
  return RunInPool(env, "seglog.segmentFlush", [held = *segment] { return held->Flush(); });
}

napi_value Truncate(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  int64_t offset;
  Status status = SegmentOf(arguments, &segment);
  if (status.ok() && !arguments.Int64(1, 0, &offset))
    status = Status::Of(Code::kBadArgument);
  if (!status.ok())
    return RejectedPromise(env, status);
  return RunInPool(env, "seglog.segmentTruncate",
                   [held = *segment, offset] { return held->Truncate(offset); });
}

napi_value Seal(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return RejectedPromise(env, status);
  (*segment)->EndAppends();
  return RunInPool(env, "seglog.segmentSeal", [held = *segment] { return held->Seal(true); });
}

napi_value Close(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  int32_t handle = 0;
  bool sync;
  Status status = SegmentOf(arguments, &segment);
  if (status.ok() && !arguments.Boolean(1, &sync))
    status = Status::Of(Code::kBadArgument);
  if (!status.ok())
    return RejectedPromise(env, status);
  arguments.Int32(0, 0, INT32_MAX, &handle);
  std::shared_ptr<Segment> held = *segment;
  TableOf(env)->Remove(handle);
  held->EndAppends();
  // Let go of in the pool: the last close of a file that was deleted frees its blocks.
  const auto execute = [held = std::move(held), sync]() mutable {
    const Status sealed = held->Seal(sync);
    held.reset();
    return sealed;
  };
  return RunInPool(env, "seglog.segmentClose", execute);
}

} // namespace

std::shared_ptr<File> Environment::SegmentFile(int32_t handle) {
  std::shared_ptr<Segment>* segment;
  return SegmentOf(this, handle, &segment).ok() ? (*segment)->file() : nullptr;
}

void ExportSegments(Napi::Env env, Napi::Object exports) {
  Environment::Of(env)->segments = std::make_shared<SegmentTable>();
  Export(env, exports, "segmentCreate", Create);
  Export(env, exports, "segmentOpen", Open);
  Export(env, exports, "segmentAppend", Append);
  Export(env, exports, "segmentLocate", Locate);
  Export(env, exports, "segmentLocateTimestamp", LocateTimestamp);
  Export(env, exports, "segmentRead", Read);
  Export(env, exports, "segmentInfo", Info);
  Export(env, exports, "segmentFlush", Flush);
  Export(env, exports, "segmentTruncate", Truncate);
  Export(env, exports, "segmentSeal", Seal);
  Export(env, exports, "segmentClose", Close);
}

} // namespace seglog
