// The segment functions of src/native.ts that answer at once: arguments in, one call of the engine,
// numbers out, no object of JavaScript made. Those that open or run in the pool are in
// segment_job_binding.cc.
#include "segment_binding.h"

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
constexpr int32_t kFromEncoder = 3;

void PutRange(double* results, const BatchRange& range) {
  results[kBaseOffset] = static_cast<double>(range.base_offset);
  results[kLastOffset] = static_cast<double>(range.last_offset);
  results[kMaxTimestamp] = static_cast<double>(range.max_timestamp);
  results[kPosition] = static_cast<double>(range.position);
  results[kLength] = static_cast<double>(range.length);
  results[kBatches] = range.batches;
  results[kLeaderEpoch] = range.leader_epoch;
}

Segment::Source SourceOf(int32_t flags) {
  if (flags == kFromEncoder)
    return Segment::Source::kEncoder;
  return flags == kFromClient ? Segment::Source::kClient : Segment::Source::kLeader;
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
                    arguments.Int32(5, kFromClient, kFromEncoder, &flags);
  if (!good)
    return arguments.Return(Status::Of(Code::kBadArgument));
  BatchRange range;
  const auto source = SourceOf(flags);
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

napi_value RecoveredBytes(napi_env env, napi_callback_info) {
  napi_value value = nullptr;
  napi_create_double(env, static_cast<double>(ScannedBytes()), &value);
  return value;
}

napi_value Prepare(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(arguments, &segment);
  if (status.ok())
    (*segment)->PrepareSpare();
  return arguments.Return(status);
}

napi_value Moved(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  std::string path;
  Status status = SegmentOf(arguments, &segment);
  if (status.ok() && !arguments.Path(1, &path))
    status = Status::Of(Code::kBadArgument);
  if (status.ok())
    (*segment)->Moved(path);
  return arguments.Return(status);
}

napi_value SetOpenFilesMax(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  int32_t count;
  if (!arguments.Int32(0, 1, INT32_MAX, &count))
    return arguments.Return(Status::Of(Code::kBadArgument));
  Residents::SetFilesMax(static_cast<size_t>(count));
  return arguments.Return(Status::Ok());
}

napi_value OpenFiles(napi_env env, napi_callback_info) {
  napi_value value = nullptr;
  napi_create_double(env, static_cast<double>(Residents::files()), &value);
  return value;
}

} // namespace

Status Environment::SegmentFile(int32_t handle, std::shared_ptr<File>* file) {
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(this, handle, &segment);
  return status.ok() ? (*segment)->UseFile(file) : status;
}

void ExportSegments(Napi::Env env, Napi::Object exports) {
  Environment::Of(env)->segments = std::make_shared<SegmentTable>();
  Export(env, exports, "segmentAppend", Append);
  Export(env, exports, "segmentLocate", Locate);
  Export(env, exports, "segmentLocateTimestamp", LocateTimestamp);
  Export(env, exports, "segmentRead", Read);
  Export(env, exports, "segmentInfo", Info);
  Export(env, exports, "segmentPrepare", Prepare);
  Export(env, exports, "segmentMoved", Moved);
  Export(env, exports, "recoveredBytes", RecoveredBytes);
  Export(env, exports, "setOpenFilesMax", SetOpenFilesMax);
  Export(env, exports, "openFiles", OpenFiles);
}

} // namespace seglog
