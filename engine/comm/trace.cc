#include "comm/trace.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "base/error.h"
#include "comm/communicator.h"

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

// Measures how far the clocks of different servers are apart, by round trips.

namespace {

constexpr int kRoundTrips = 10;

/// A one-way message of one number between rank 0 and a peer.
class Ball {
 public:
  explicit Ball(Communicator& comm) : comm_(comm) { one_.zero(); }
  void send(Rank to) {
    const RowsTo rows{to, one_};
    comm_.exchange(Lane::kSmall, Traffic::kSetup, std::span(&rows, 1), {}).wait();
  }
  void receive(Rank from) {
    const RowsFrom rows{from, one_};
    comm_.exchange(Lane::kSmall, Traffic::kSetup, {}, std::span(&rows, 1)).wait();
  }

 private:
  Communicator& comm_;
  Matrix one_{1, 1};
};

/// Times of the balls. Rank 0 notes when each ball left and came back, the peer when it arrived.
using Times = std::vector<std::int64_t>;

Times play(Communicator& comm, Rank peer) {
  Ball ball(comm);
  Times times;
  for (int i = 0; i < kRoundTrips; ++i) {
    if (comm.rank() == 0) {
      times.push_back(steady_now());
      ball.send(peer);
      ball.receive(peer);
    } else {
      ball.receive(0);
    }
    times.push_back(steady_now());
    if (comm.rank() == peer) ball.send(0);
  }
  return times;
}

ClockOffset quickest(const Times& here, const Times& there) {
  ClockOffset best{0, std::numeric_limits<std::int64_t>::max()};
  for (std::size_t i = 0; i < there.size(); ++i) {
    const std::int64_t left = here[2 * i], back = here[2 * i + 1], half = (back - left + 1) / 2;
    if (half < best.error) best = {there[i] - (left + half), half};
  }
  return best;
}

}  // namespace

std::vector<ClockOffset> measure_clock_offsets(Communicator& comm) {
  std::vector<Times> by_peer(std::size_t(comm.size()));
  for (Rank peer = 1; peer < comm.size(); ++peer)
    if (comm.rank() == 0 || comm.rank() == peer) by_peer[std::size_t(peer)] = play(comm, peer);
  const Times mine = comm.rank() == 0 ? Times{} : by_peer[std::size_t(comm.rank())];
  const auto all = comm.all_gather(Traffic::kSetup, std::as_bytes(std::span(mine)));
  std::vector<ClockOffset> offsets(std::size_t(comm.size()));
  for (Rank peer = 1; comm.rank() == 0 && peer < comm.size(); ++peer) {
    Times there(std::size_t{kRoundTrips});
    std::memcpy(there.data(), all[std::size_t(peer)].data(), all[std::size_t(peer)].size());
    offsets[std::size_t(peer)] = quickest(by_peer[std::size_t(peer)], there);
  }
  comm.broadcast(Traffic::kSetup, 0, std::as_writable_bytes(std::span(offsets)));
  return offsets;
}

}  // namespace atl
