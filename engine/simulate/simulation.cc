#include "simulate/simulation.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "simulate/sent_bytes.h"

namespace atl {
namespace {

constexpr int kMostReplays = 40;        // to come close to a share
constexpr double kCloseEnough = 0.002;  // of the share asked for

/// How many of a replay's last epochs are judged. Where rows are late by an epoch, a backlog grows on the links during the first
/// ones, and then long and short ones may take turns: an even number.
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

/// The mean length of an epoch.
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

/// The rank that computes longest, whatever messages take of its processors.
std::size_t longest_rank(const Recording& recording) {
  const auto seconds = [](const RankRecording& rank) {
    double sum = 0;
    for (const RecordedStep& step : rank.steps) sum += step.seconds;
    return sum;
  };
  return std::size_t(std::ranges::max_element(recording.ranks, {}, seconds) - recording.ranks.begin());
}

/// From a recorded epoch to a whole one.
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

/// Messages take no time and no processor.
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

/// The share falls as links get faster: between one that is too slow and one too fast, halved in logarithms.
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
