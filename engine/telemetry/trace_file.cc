// Writes the trace of a run as a file that chrome://tracing and Perfetto show.
#include "telemetry/run_folder.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/atomic_file.h"
#include "base/json.h"
#include "comm/communicator.h"

namespace atl {
namespace {

using Json = nlohmann::ordered_json;

/// A rank's spans, stream by stream, as they travel.
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

/// Times are in microseconds, as the format requires.
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

/// Names for a rank and its streams in the viewer.
void add_names(const Communicator& comm, Rank rank, Json& events) {
  events.push_back({{"name", "process_name"},
                    {"ph", "M"},
                    {"pid", rank},
                    {"args", {{"name", fmt::format("rank {} on {}", rank, comm.host(rank))}}}});
  for (int s = 0; s < kStreams; ++s)
    events.push_back({{"name", "thread_name"},
                      {"ph", "M"},
                      {"pid", rank},
                      {"tid", s},
                      {"args", {{"name", stream_name(Stream(s))}}}});
}

/// Moves all spans to rank 0's clock.
void move_to_one_clock(std::vector<std::vector<TracedSpan>>& ranks, const std::vector<ClockOffset>& clocks) {
  for (std::size_t r = 0; r < ranks.size(); ++r)
    for (TracedSpan& traced : ranks[r]) {
      traced.span.begin -= clocks[r].ahead;
      traced.span.end -= clocks[r].ahead;
    }
}

std::string document(const Communicator& comm, const std::vector<std::vector<TracedSpan>>& ranks,
                     const std::vector<ClockOffset>& clocks, bool cut) {
  std::int64_t zero = std::numeric_limits<std::int64_t>::max();
  for (const auto& spans : ranks)
    for (const TracedSpan& traced : spans) zero = std::min(zero, traced.span.begin);
  Json events = Json::array(), errors = Json::array();
  for (Rank rank = 0; rank < comm.size(); ++rank) {
    add_names(comm, rank, events);
    errors.push_back(double(clocks[std::size_t(rank)].error) / 1e3);
    for (const TracedSpan& traced : ranks[std::size_t(rank)])
      events.push_back(event_json(rank, traced, zero));
  }
  const Json json{{"displayTimeUnit", "ms"},
                  {"otherData", {{"clockErrorMicroseconds", errors}, {"earlierSpansMissing", cut}}},
                  {"traceEvents", std::move(events)}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

void write_trace(Communicator& comm, const Trace& trace, const std::vector<ClockOffset>& clocks,
                 std::int64_t first_epoch, const std::filesystem::path& path) {
  const std::vector<TracedSpan> mine = own_spans(trace, first_epoch);
  std::int64_t cut = trace.cut(first_epoch);
  std::vector<std::vector<std::byte>> to(std::size_t(comm.size()));
  const auto bytes = std::as_bytes(std::span(mine));
  to[0].assign(bytes.begin(), bytes.end());
  const auto from = comm.all_to_all(Traffic::kCheckpoint, to);
  comm.all_reduce(Traffic::kCheckpoint, std::span(&cut, 1));
  if (comm.rank() != 0) return;
  std::vector<std::vector<TracedSpan>> ranks;
  for (const auto& blob : from) ranks.push_back(spans_of(blob));
  move_to_one_clock(ranks, clocks);
  write_file_atomically(path, document(comm, ranks, clocks, cut > 0));
}

}  // namespace atl
