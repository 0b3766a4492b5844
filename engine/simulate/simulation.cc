#include "simulate/simulation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "base/error.h"
#include "comm/all_reduce.h"
#include "simulate/recording.h"
#include "simulate/topology.h"

namespace atl {
namespace {

// Counts what ranks send in an epoch of a recording.

/// Bytes that all ranks together send.
struct SentBytes {
  double inside = 0, between = 0;  // inside servers, and between them
};

class Counted {
 public:
  Counted(const Topology& topology, Rank rank) : servers_(topology.server_of_rank()), rank_(rank) {}

  void add(const RecordedOperation& op) {
    for (const auto& [peer, bytes] : op.sends) add(peer, bytes);
    if (op.sums) add_sum(op);
  }
  void add(const RecordedBatch& batch) {
    for (const RecordedOperation& op : batch.operations) add(op);
  }
  SentBytes sum() const { return sum_; }

 private:
  void add(Rank peer, std::int64_t bytes) {
    const bool between = servers_[std::size_t(peer)] != servers_[std::size_t(rank_)];
    (between ? sum_.between : sum_.inside) += double(bytes);
  }

  /// Adds a sum's messages, round by round. AllReduce wants the values' address, but none of them is read.
  void add_sum(const RecordedOperation& op) {
    std::byte values{};
    AllReduce reduce;
    reduce.begin({op.members, op.place, op.ranks, op.count, op.width}, &values, nullptr, &values, sends_,
                 receives_);
    do {
      for (const Message& m : sends_) add(m.peer, m.bytes);
      sends_.clear(), receives_.clear();
    } while (reduce.next_round(sends_, receives_));
  }

  const std::vector<int> servers_;  // by rank
  Rank rank_;
  SentBytes sum_;
  std::vector<Message> sends_, receives_;  // messages of one round of a sum
};

SentBytes sent_by(const RankRecording& rank, std::int64_t first_epoch, Counted counted) {
  std::int64_t epoch = 0;
  std::size_t taken = 0;
  for (const RecordedStep& step : rank.steps) {
    using Kind = RecordedStep::Kind;
    if (step.kind == Kind::kEpoch) ++epoch;
    const bool counts = epoch >= first_epoch;
    if (step.kind == Kind::kTake && taken++ < rank.batches.all.size() && counts)
      counted.add(rank.batches.all[taken - 1]);
    if (step.kind == Kind::kStart && counts) counted.add(rank.operations[std::size_t(step.operation)]);
    if (step.kind == Kind::kExplain && std::size_t(step.operation) < rank.explanations.size() && counts)
      counted.add(rank.explanations[std::size_t(step.operation)]);
  }
  return counted.sum();
}

/// Mean bytes of the recording's last `epochs`. They are of the operations that training starts in these
/// epochs, of the batches that it takes in them, whenever these were made, and of the explanations that it
/// begins. Batches made ahead at the end belong to epochs that weren't recorded.
SentBytes sent_bytes(const Recording& recording, const Topology& topology, int epochs) {
  SentBytes sum;
  for (Rank r = 0; r < Rank(recording.ranks.size()); ++r) {
    const SentBytes of_rank =
        sent_by(recording.ranks[std::size_t(r)], recording.epochs - epochs + 1, Counted(topology, r));
    sum.inside += of_rank.inside, sum.between += of_rank.between;
  }
  return {sum.inside / double(epochs), sum.between / double(epochs)};
}

constexpr int kMostReplays = 40;        // the most replays to approach a share
constexpr double kCloseEnough = 0.002;  // relative to the requested share

/// How many of a replay's last epochs are judged. Where rows are an epoch late, a backlog grows on the links
/// in the first epochs, and then long and short epochs may alternate. The number is therefore even.
std::size_t judged(std::size_t epochs) {
  return std::max<std::size_t>(2, epochs / 4 * 2);
}

template <class Seconds>
double steady(const std::vector<ReplayedEpoch>& epochs, Seconds seconds) {
  const std::size_t last = judged(epochs.size());
  double sum = 0;
  for (std::size_t e = epochs.size() - last; e < epochs.size(); ++e) sum += seconds(epochs[e]);
  return sum / double(last);
}

/// The mean length of the judged epochs.
double steady(const Replayed& replayed) {
  const std::vector<double> lengths = replayed.epochs();
  const auto last = std::ptrdiff_t(judged(lengths.size() + 1));
  return std::accumulate(lengths.end() - last, lengths.end(), 0.0) / double(last);
}

Topology with_rate_times(const Topology& topology, double factor) {
  Topology faster = topology;
  for (ServerSpec& server : faster.servers) server.rate *= factor;
  for (double* rate : {&faster.rack_rate, &faster.inside.rate, &faster.bridge.rate}) *rate *= factor;
  return faster;
}

/// The rank that computes longest, not counting what messages take of its processors.
std::size_t longest_rank(const Recording& recording) {
  const auto seconds = [](const RankRecording& rank) {
    double sum = 0;
    for (const RecordedStep& step : rank.steps) sum += step.seconds;
    return sum;
  };
  return std::size_t(std::ranges::max_element(recording.ranks, {}, seconds) - recording.ranks.begin());
}

/// Scales a recorded epoch to a whole one.
void multiply(SimulatedRow& row, double steps) {
  for (double* each : {&row.epoch, &row.compute, &row.exposed, &row.without_batch, &row.compute_of_all,
                       &row.bytes_inside, &row.bytes_between})
    *each *= steps;
  for (double& each : row.waits) each *= steps;
}

SimulatedRow over_links(const RecordedStrategy& strategy, const Topology& topology) {
  const Replayed replayed = replay(strategy.recording, topology);
  SimulatedRow row{.label = strategy.label, .epoch = steady(replayed)};
  const std::size_t longest = longest_rank(strategy.recording);
  for (std::size_t r = 0; r < replayed.ranks.size(); ++r) {
    const auto& epochs = replayed.ranks[r];
    const double compute = steady(epochs, [](const ReplayedEpoch& e) { return e.compute; });
    row.compute_of_all += compute;
    if (r == longest) {
      row.compute = compute;
      row.exposed = steady(epochs, [](const ReplayedEpoch& e) { return e.waited(); });
      row.without_batch = steady(epochs, [](const ReplayedEpoch& e) { return e.without_batch; });
    }
    for (std::size_t p = 0; p < row.waits.size(); ++p)
      row.waits[p] += steady(epochs, [p](const ReplayedEpoch& e) { return e.exposed[p]; }) /
                      double(replayed.ranks.size());
  }
  const SentBytes sent =
      sent_bytes(strategy.recording, topology, int(judged(std::size_t(strategy.recording.epochs))));
  row.bytes_inside = sent.inside, row.bytes_between = sent.between;
  multiply(row, strategy.recording.steps);
  return row;
}

/// The topology with messages that take no time and no processor.
Topology with_free_links(const Topology& topology) {
  constexpr double kFree = 1e18;  // bytes a second
  Topology free = topology;
  for (ServerSpec& server : free.servers) server.rate = kFree;
  free.rack_rate = free.inside.rate = free.bridge.rate = kFree;
  for (double* cost : {&free.latency, &free.inside.latency, &free.inside.byte_seconds, &free.bridge.latency,
                       &free.byte_seconds, &free.message_seconds})
    *cost = 0;
  free.polls = false;
  return free;
}

}  // namespace

SimulatedRow simulate(const RecordedStrategy& strategy, const Topology& topology) {
  SimulatedRow row = over_links(strategy, topology);
  row.free_links = over_links(strategy, with_free_links(topology)).epoch;
  return row;
}

Simulation simulate_all(const std::vector<RecordedStrategy>& strategies, const Topology& topology) {
  Simulation simulation{.topology = topology};
  for (const RecordedStrategy& strategy : strategies) {
    simulation.rows.push_back(simulate(strategy, topology));
    simulation.rows.back().speed_up = simulation.rows.front().epoch / simulation.rows.back().epoch;
  }
  return simulation;
}

/// Finds the factor by bisection on its logarithm, between a rate that is too slow and one that is too fast.
/// The share of communication falls as links get faster.
Topology with_share(const RecordedStrategy& baseline, const Topology& topology, double share) {
  const auto share_at = [&](double factor) {
    return over_links(baseline, with_rate_times(topology, factor)).share();
  };
  double slow = 1e-4, fast = 1e4;
  const double least = share_at(fast), most = share_at(slow);
  if (share <= least || share >= most)
    fail(
        "--comm-share: {:g} can't be reached: links from {:g} to {:g} times as fast as in {} give {} "
        "shares from {:.3f} to {:.3f} (use one between these)",
        share, slow, fast, topology.name, baseline.label, least, most);
  for (int i = 0; i < kMostReplays; ++i) {
    const double middle = std::sqrt(slow * fast), reached = share_at(middle);
    if (std::abs(reached - share) < kCloseEnough) return with_rate_times(topology, middle);
    (reached > share ? slow : fast) = middle;
  }
  fail(
      "--comm-share: {:g} isn't met at any rate of {}'s links: just below and above {:g} times the file's, {} has more and less",
      share, topology.name, std::sqrt(slow * fast), baseline.label);
}

}  // namespace atl
