#include "comm/trace.h"

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

std::int64_t steady_now() {
  return Trace::at(std::chrono::steady_clock::now());
}

}  // namespace

const char* stream_name(Stream stream) {
  constexpr const char* kNames[] = {"compute",       "small lane", "bulk lane",
                                    "prefetch lane", "sampler",    "explainer"};
  return kNames[std::size_t(stream)];
}

const char* work_name(Work work) {
  constexpr const char* kNames[] = {"",           "forward",  "backward", "recompute", "loss",      "update",
                                    "evaluation", "prefetch", "sampling", "fetching",  "explaining"};
  return kNames[std::size_t(work)];
}

Trace::Trace(std::size_t spans) {
  ATOLL_CHECK(spans > 1, "a ring of {} spans", spans);
  for (Ring& ring : rings_) ring.spans.resize(spans);
}

std::int64_t Trace::at(std::chrono::steady_clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

void Trace::Ring::put(const Span& span) {
  const std::uint64_t at = count.load(std::memory_order_relaxed);
  spans[std::size_t(at % spans.size())] = span;
  count.store(at + 1, std::memory_order_release);
}

void Trace::end_compute(std::int64_t end) {
  if (label_.work == Work::kNone) return;
  rings_[std::size_t(Stream::kCompute)].put({.begin = since_, .end = end, .label = label_, .computes = true});
}

void Trace::enter(Work work, int layer) {
  const std::int64_t time = steady_now();
  end_compute(time);
  label_.work = work, label_.layer = layer;
  since_ = time;
}

void Trace::begin_wait() {
  waits_since_ = steady_now();
  end_compute(waits_since_);
}

void Trace::end_wait(Traffic purpose) {
  since_ = steady_now();
  rings_[std::size_t(Stream::kCompute)].put(
      {.begin = waits_since_, .end = since_, .label = label_, .purpose = purpose});
}

void Trace::transferred(Lane lane, const Span& span) {
  constexpr Stream kOf[] = {Stream::kSmallLane, Stream::kBulkLane, Stream::kPrefetchLane};
  rings_[std::size_t(kOf[std::size_t(lane)])].put(span);
}

void Trace::sampled(std::int64_t epoch, Work work, std::chrono::steady_clock::time_point begin) {
  rings_[std::size_t(Stream::kSampler)].put(
      {.begin = at(begin), .end = steady_now(), .label = {epoch, -1, work}, .computes = true});
}

void Trace::explained(std::int64_t epoch, std::chrono::steady_clock::time_point begin) {
  rings_[std::size_t(Stream::kExplainer)].put(
      {.begin = at(begin), .end = steady_now(), .label = {epoch, -1, Work::kExplaining}, .computes = true});
}

/// Leaves out the oldest span of a full ring, which may be overwritten while it is read.
std::vector<Span> Trace::spans(Stream stream, std::int64_t epoch) const {
  const Ring& ring = rings_[std::size_t(stream)];
  const std::uint64_t count = ring.count.load(std::memory_order_acquire), size = ring.spans.size();
  std::vector<Span> kept;
  for (std::uint64_t i = count < size ? 0 : count - size + 1; i < count; ++i) {
    const Span& span = ring.spans[std::size_t(i % size)];
    if (span.label.work != Work::kNone && span.label.epoch >= epoch) kept.push_back(span);
  }
  return kept;
}

bool Trace::cut(std::int64_t epoch) const {
  return std::any_of(rings_.begin(), rings_.end(), [&](const Ring& ring) {
    const std::uint64_t count = ring.count.load(std::memory_order_acquire), size = ring.spans.size();
    return count >= size && ring.spans[std::size_t((count + 1) % size)].label.epoch >= epoch;
  });
}

}  // namespace atl
