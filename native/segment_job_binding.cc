// The segment functions of src/native.ts that open files or run in the pool. A job holds its
// segment by a reference, so that its handle may be closed while it runs.
#include "segment_binding.h"
#include "work.h"

#include <cerrno>
#include <cmath>
#include <cstdio>

namespace seglog {

namespace {

// An ending like .cleaned: no way out of the folder.
bool IsSuffix(const std::string& suffix) {
  return suffix.empty() || (suffix[0] == '.' && suffix.find('/') == std::string::npos &&
                            suffix.find('\0') == std::string::npos);
}

bool ReadSuffix(napi_env env, napi_value object, std::string* suffix) {
  napi_value value;
  napi_valuetype type;
  if (napi_get_named_property(env, object, "suffix", &value) != napi_ok ||
      napi_typeof(env, value, &type) != napi_ok)
    return false;
  return type == napi_undefined || (ReadText(env, value, 64, suffix) && IsSuffix(*suffix));
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
  // Left out, it stays what it is.
  const auto offset = [&](const char* name, int64_t* target) {
    napi_value value;
    napi_valuetype type;
    if (napi_get_named_property(env, object, name, &value) != napi_ok ||
        napi_typeof(env, value, &type) != napi_ok)
      return false;
    if (type == napi_undefined)
      return true;
    // One above the largest: where a log ends that has it.
    double read;
    if (!number(name, -1, static_cast<double>(format::kOffsetMax) + 1, &read))
      return false;
    *target = static_cast<int64_t>(read);
    return static_cast<double>(*target) == read;
  };
  double segment_bytes, interval;
  napi_valuetype type;
  if (napi_typeof(env, object, &type) != napi_ok || type != napi_object)
    return false;
  const bool good = boolean("readOnly", &options->read_only) &&
                    boolean("recover", &options->recover) && boolean("mapped", &options->mapped) &&
                    number("segmentBytes", 1, format::kSegmentBytesMax, &segment_bytes) &&
                    number("indexIntervalBytes", 0, INT32_MAX, &interval) &&
                    offset("trustedNextOffset", &options->trusted_next_offset) &&
                    offset("recoverFrom", &options->recover_from) &&
                    ReadSuffix(env, object, &options->suffix);
  if (!good)
    return false;
  options->segment_bytes = static_cast<uint64_t>(segment_bytes);
  options->index_interval_bytes = static_cast<uint32_t>(interval);
  return true;
}

bool ReadNamed(const Arguments<3>& arguments, std::string* path, int64_t* base_offset,
               SegmentOptions* options) {
  return arguments.Path(0, path) && arguments.Int64(1, 0, base_offset) &&
         *base_offset <= format::kOffsetMax &&
         ReadOptions(arguments.env(), arguments.value(2), options);
}

SegmentTable* TableOf(napi_env env) {
  Environment* environment = Environment::Of(Napi::Env(env));
  return environment == nullptr ? nullptr : static_cast<SegmentTable*>(environment->segments.get());
}

napi_value Create(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  std::string path;
  int64_t base_offset;
  SegmentOptions options;
  if (!ReadNamed(arguments, &path, &base_offset, &options))
    return arguments.Return(Status::Of(Code::kBadArgument));
  std::shared_ptr<Segment> segment;
  Status status = Segment::Create(path, base_offset, options, &segment);
  if (status.error == EMFILE || status.error == ENFILE) {
    Residents::LeaveAllBut(nullptr);
    status = Segment::Create(path, base_offset, options, &segment);
  }
  if (!status.ok())
    return arguments.Return(status);
  const int32_t handle = TableOf(env)->Add(std::move(segment));
  return arguments.Return(handle > 0 ? status : Status::Of(Code::kTooManyFiles), handle);
}

struct Opening {
  std::string path;
  int64_t base_offset;
  SegmentOptions options;
  std::shared_ptr<Segment> segment;
  SegmentReport report;

  Status Open() { return Segment::Open(path, base_offset, options, &segment, &report); }
};

// Also enters the segment into the table.
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
  const bool damaged = report.scan.damage != Code::kOk;
  opening->segment->State(&state);
  set("validBytes", static_cast<double>(state.size));
  set("fileBytes", static_cast<double>(report.file_bytes));
  set("nextOffset", static_cast<double>(state.next_offset));
  set("maxTimestamp", static_cast<double>(state.max_timestamp));
  set("damage", static_cast<double>(static_cast<int32_t>(report.scan.damage)));
  set("damagePosition", damaged ? static_cast<double>(report.scan.damage_position) : -1);
  set("damageOffset", damaged ? static_cast<double>(report.scan.damage_offset) : -1);
  napi_get_boolean(env, report.index_rebuilt, &rebuilt);
  napi_set_named_property(env, object, "indexRebuilt", rebuilt);
  set("handle", table->Add(std::move(opening->segment)));
  return object;
}

napi_value Open(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  auto opening = std::make_shared<Opening>();
  if (!ReadNamed(arguments, &opening->path, &opening->base_offset, &opening->options))
    return RejectedPromise(env, Status::Of(Code::kBadArgument));
  return RunInPool(
      env, "seglog.segmentOpen", [opening] { return opening->Open(); },
      [opening](napi_env env) { return MakeReport(env, opening.get()); });
}

// Rising base offsets, at most as many as a table holds.
bool ReadBases(napi_env env, napi_value array, std::vector<int64_t>* bases) {
  bool is_array = false;
  uint32_t length = 0;
  if (napi_is_array(env, array, &is_array) != napi_ok || !is_array ||
      napi_get_array_length(env, array, &length) != napi_ok || length > SegmentTable::kSlotsMax)
    return false;
  bases->reserve(length);
  for (uint32_t i = 0; i < length; i++) {
    napi_value element;
    double number;
    if (napi_get_element(env, array, i, &element) != napi_ok ||
        napi_get_value_double(env, element, &number) != napi_ok || !(number >= 0) ||
        number > static_cast<double>(format::kOffsetMax) || std::trunc(number) != number)
      return false;
    if (!bases->empty() && number <= static_cast<double>(bases->back()))
      return false;
    bases->push_back(static_cast<int64_t>(number));
  }
  return true;
}

napi_value MakeReports(napi_env env, std::vector<Opening>* openings) {
  napi_value reports;
  if (napi_create_array_with_length(env, openings->size(), &reports) != napi_ok)
    return nullptr;
  for (uint32_t i = 0; i < openings->size(); i++) {
    napi_handle_scope scope;
    if (napi_open_handle_scope(env, &scope) != napi_ok)
      return nullptr;
    napi_value report = MakeReport(env, &(*openings)[i]);
    if (report != nullptr)
      napi_set_element(env, reports, i, report);
    napi_close_handle_scope(env, scope);
  }
  return reports;
}

std::string NameOf(const std::string& directory, int64_t base_offset) {
  char name[32];
  std::snprintf(name, sizeof name, "/%020lld", static_cast<long long>(base_offset));
  return directory + name;
}

napi_value OpenAll(napi_env env, napi_callback_info info) {
  const Arguments<3> arguments(env, info);
  std::string directory;
  std::vector<int64_t> bases;
  SegmentOptions options;
  if (!arguments.Path(0, &directory) || !ReadBases(env, arguments.value(1), &bases) ||
      !ReadOptions(env, arguments.value(2), &options) || options.trusted_next_offset < 0)
    return RejectedPromise(env, Status::Of(Code::kBadArgument));
  auto openings = std::make_shared<std::vector<Opening>>();
  const auto execute = [openings, directory, bases, options] {
    openings->resize(bases.size());
    for (size_t i = 0; i < bases.size(); i++) {
      Opening& opening = (*openings)[i];
      opening.path = NameOf(directory, bases[i]);
      opening.base_offset = bases[i];
      opening.options = options;
      if (i + 1 < bases.size())
        opening.options.trusted_next_offset = bases[i + 1];
      const Status status = opening.Open();
      if (!status.ok())
        return status;
    }
    return Status::Ok();
  };
  return RunInPool(env, "seglog.segmentsOpen", execute,
                   [openings](napi_env env) { return MakeReports(env, openings.get()); });
}

// Runs a job of the segment that the first argument names; `good` says whether the others are
// right.
template <size_t Count>
napi_value RunOn(const Arguments<Count>& arguments, const char* name, bool good,
                 std::function<Status(Segment*)> job) {
  std::shared_ptr<Segment>* segment;
  Status status = SegmentOf(arguments, &segment);
  if (status.ok() && !good)
    status = Status::Of(Code::kBadArgument);
  if (!status.ok())
    return RejectedPromise(arguments.env(), status);
  return RunInPool(arguments.env(), name,
                   [held = *segment, job = std::move(job)] { return job(held.get()); });
}

// As RunOn, for the last job of a segment: it takes no append any more, and its handle is free. It
// is let go of in the pool: the last close of a file that was deleted frees its blocks.
template <size_t Count>
napi_value RunLast(const Arguments<Count>& arguments, const char* name, bool good,
                   std::function<Status(Segment*)> job) {
  std::shared_ptr<Segment>* segment;
  int32_t handle = 0;
  Status status = SegmentOf(arguments, &segment);
  if (status.ok() && !good)
    status = Status::Of(Code::kBadArgument);
  if (!status.ok())
    return RejectedPromise(arguments.env(), status);
  arguments.Int32(0, 0, INT32_MAX, &handle);
  std::shared_ptr<Segment> held = *segment;
  TableOf(arguments.env())->Remove(handle);
  held->EndAppends();
  return RunInPool(arguments.env(), name, [held = std::move(held), job = std::move(job)]() mutable {
    const Status status = job(held.get());
    held.reset();
    return status;
  });
}

napi_value Flush(napi_env env, napi_callback_info info) {
  return RunOn(Arguments<1>(env, info), "seglog.segmentFlush", true,
               [](Segment* segment) { return segment->Flush(); });
}

napi_value FlushNow(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(arguments, &segment);
  return arguments.Return(status.ok() ? (*segment)->Flush() : status);
}

napi_value Truncate(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  int64_t offset = 0;
  const bool good = arguments.Int64(1, 0, &offset);
  return RunOn(arguments, "seglog.segmentTruncate", good,
               [offset](Segment* segment) { return segment->Truncate(offset); });
}

napi_value Seal(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  if (SegmentOf(arguments, &segment).ok())
    (*segment)->EndAppends();
  return RunOn(arguments, "seglog.segmentSeal", true,
               [](Segment* segment) { return segment->Seal(true); });
}

napi_value SealNow(napi_env env, napi_callback_info info) {
  const Arguments<1> arguments(env, info);
  std::shared_ptr<Segment>* segment;
  const Status status = SegmentOf(arguments, &segment);
  if (!status.ok())
    return arguments.Return(status);
  (*segment)->EndAppends();
  return arguments.Return((*segment)->Seal(true));
}

napi_value Close(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  bool sync = false;
  const bool good = arguments.Boolean(1, &sync);
  return RunLast(arguments, "seglog.segmentClose", good, [sync](Segment* segment) {
    segment->EndAppends(); // a truncation may have come between
    return segment->Seal(sync);
  });
}

napi_value Delete(napi_env env, napi_callback_info info) {
  return RunLast(Arguments<1>(env, info), "seglog.segmentDelete", true,
                 [](Segment* segment) { return segment->Delete(); });
}

napi_value Rename(napi_env env, napi_callback_info info) {
  const Arguments<2> arguments(env, info);
  std::string suffix;
  const bool good = arguments.Text(1, 64, &suffix) && IsSuffix(suffix);
  return RunOn(arguments, "seglog.segmentRename", good,
               [suffix](Segment* segment) { return segment->Rename(suffix); });
}

napi_value Load(napi_env env, napi_callback_info info) {
  return RunOn(Arguments<1>(env, info), "seglog.segmentLoad", true,
               [](Segment* segment) { return segment->LoadIndexes(); });
}

} // namespace

void ExportSegmentJobs(Napi::Env env, Napi::Object exports) {
  Export(env, exports, "segmentCreate", Create);
  Export(env, exports, "segmentOpen", Open);
  Export(env, exports, "segmentsOpen", OpenAll);
  Export(env, exports, "segmentFlush", Flush);
  Export(env, exports, "segmentFlushNow", FlushNow);
  Export(env, exports, "segmentTruncate", Truncate);
  Export(env, exports, "segmentSeal", Seal);
  Export(env, exports, "segmentSealNow", SealNow);
  Export(env, exports, "segmentClose", Close);
  Export(env, exports, "segmentDelete", Delete);
  Export(env, exports, "segmentRename", Rename);
  Export(env, exports, "segmentLoad", Load);
}

} // namespace seglog
