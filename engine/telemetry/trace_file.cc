// Writes the trace of a run as a file that chrome://tracing and Perfetto show.
#include "telemetry/run_folder.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/atomic_file.h"
#include "base/json.h"
#include "comm/communicator.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

/// One span of a rank as it is sent to rank 0. A rank sends its spans stream by stream.
struct TracedSpan {
  Stream stream;
  Span span;
};
static_assert(std::is_trivially_copyable_v<TracedSpan>);

std::vector<TracedSpan> own_spans(const Trace& trace, std::int64_t first_epoch) {
  std::vector<TracedSpan> all;
  for (int s = 0; s < kStreams; ++s)
    for (const Span& span : trace.spans(Stream(s), first_epoch)) all.push_back({Stream(s), span});
  return all;
}

std::vector<TracedSpan> spans_of(const std::vector<std::byte>& bytes) {
  std::vector<TracedSpan> spans(bytes.size() / sizeof(TracedSpan));
  if (!spans.empty()) std::memcpy(spans.data(), bytes.data(), bytes.size());
  return spans;
}

std::string name_of(const TracedSpan& traced) {
  const Span& span = traced.span;
  const std::string layer = span.label.layer >= 0 ? fmt::format(" of layer {}", span.label.layer) : "";
  if (span.computes) return work_name(span.label.work) + layer;
  const bool waits = traced.stream == Stream::kCompute;
  return fmt::format("{}{}{}", waits ? "wait for " : "", traffic_name(span.purpose), layer);
}

/// A span as an event of the file. Times are in microseconds, as the format requires.
Json event_json(Rank rank, const TracedSpan& traced, std::int64_t zero) {
  const Span& span = traced.span;
  const char* category = traced.stream == Stream::kSampler   ? "sampling"
                         : span.computes                     ? "compute"
                         : traced.stream == Stream::kCompute ? "wait"
                                                             : "communication";
  Json arguments{{"epoch", span.label.epoch}, {"direction", work_name(span.label.work)}};
  if (span.label.layer >= 0) arguments["layer"] = span.label.layer;
  if (!span.computes) arguments["purpose"] = traffic_name(span.purpose);
  if (!span.computes && traced.stream != Stream::kCompute) arguments["bytes"] = span.bytes;
  return {{"name", name_of(traced)},
          {"cat", category},
          {"ph", "X"},
          {"ts", double(span.begin - zero) / 1e3},
          {"dur", double(span.end - span.begin) / 1e3},
          {"pid", rank},
          {"tid", int(traced.stream)},
          {"args", std::move(arguments)}};
}

/// The file, written event by event. As a tree of values, the events of many ranks would take more memory
/// than rank 0 held while it trained.
class EventFile {
 public:
  EventFile(const std::filesystem::path& path, const Json& other) : file_(path) {
    text_ = R"({"displayTimeUnit":"ms","otherData":)" + text_of(other) + R"(,"traceEvents":[)";
  }
  void put(const Json& event) {
    if (std::exchange(any_, true)) text_ += ',';
    text_ += text_of(event);
    if (text_.size() < kPiece) return;
    file_.write(text_);
    text_.clear();
  }
  void commit() {
    file_.write(text_ + "]}\n");
    file_.commit();
  }

 private:
  static constexpr std::size_t kPiece = 1 << 20;
  static std::string text_of(const Json& json) {
    return json.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  AtomicFile file_;
  std::string text_;
  bool any_ = false;
};

/// Names for a rank and its streams in the viewer.
void put_names(const Communicator& comm, Rank rank, EventFile& file) {
  file.put({{"name", "process_name"},
            {"ph", "M"},
            {"pid", rank},
            {"args", {{"name", fmt::format("rank {} on {}", rank, comm.host(rank))}}}});
  for (int s = 0; s < kStreams; ++s)
    file.put({{"name", "thread_name"},
              {"ph", "M"},
              {"pid", rank},
              {"tid", s},
              {"args", {{"name", stream_name(Stream(s))}}}});
}

/// When the earliest span of all ranks begins, by rank 0's clock.
std::int64_t first_begin(const std::vector<std::vector<std::byte>>& ranks,
                         const std::vector<ClockOffset>& clocks) {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (const TracedSpan& traced : spans_of(ranks[r]))
      first = std::min(first, traced.span.begin - clocks[r].ahead);
  return first;
}

/// Writes the events of all ranks. `ranks` has their spans as they were sent, each by the clock of its rank.
void write_events(const Communicator& comm, const std::vector<std::vector<std::byte>>& ranks,
                  const std::vector<ClockOffset>& clocks, bool cut, const std::filesystem::path& path) {
  Json errors = Json::array();
  for (const ClockOffset& clock : clocks) errors.push_back(double(clock.error) / 1e3);
  EventFile file(path, {{"clockErrorMicroseconds", std::move(errors)}, {"earlierSpansMissing", cut}});
  const std::int64_t zero = first_begin(ranks, clocks);
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    put_names(comm, Rank(r), file);
    for (const TracedSpan& traced : spans_of(ranks[r]))
      file.put(event_json(Rank(r), traced, zero + clocks[r].ahead));
  }
  file.commit();
}

}  // namespace

void write_trace(Communicator& comm, const Trace& trace, const std::vector<ClockOffset>& clocks,
                 std::int64_t first_epoch, const std::filesystem::path& path) {
  std::int64_t cut = trace.cut(first_epoch);
  std::vector<std::vector<std::byte>> to(std::size_t(comm.size()));
  {
    const std::vector<TracedSpan> mine = own_spans(trace, first_epoch);
    const auto bytes = std::as_bytes(std::span(mine));
    to[0].assign(bytes.begin(), bytes.end());
  }
  const auto from = comm.all_to_all(Traffic::kCheckpoint, to);
  comm.all_reduce(Traffic::kCheckpoint, std::span(&cut, 1));
  if (comm.rank() == 0) write_events(comm, from, clocks, cut > 0, path);
}

}  // namespace atl
