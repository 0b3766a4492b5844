// Replays a recording over a topology's links: a discrete-event simulation.
#include "simulate/simulation.h"

#include <algorithm>
#include <limits>
#include <memory>
#include <queue>
#include <span>
#include <utility>

#include "base/error.h"
#include "simulate/recording.h"
#include "simulate/topology.h"
#include "simulate/virtual_rank.h"

namespace atl {
namespace {

// A model of how fast a rank computes on another processor. It follows from the rates of three kinds of
// kernels there and here.

/// The factor by which a rank computes faster than it was recorded. It is Topology::speed or, where the
/// topology has rates, the time of the rank's products, gathers and streams here, one after the other, over
/// their time there.
double kernel_speed(const Recording& recording, const Topology& topology, Rank rank) {
  if (!topology.rates) return topology.speed;
  ATOLL_CHECK(recording.works.size() == recording.ranks.size(), "a recording without what ranks compute");
  const EpochWork& work = recording.works[std::size_t(rank)];
  const double here = seconds_of(work, recording.rates), there = seconds_of(work, *topology.rates);
  return there > 0 ? here / there : 1;
}

/// Bytes that the largest sum's values and terms would take; only their addresses are used.
std::size_t largest_sum(const Recording& recording) {
  std::int64_t most = 1;
  for (const RankRecording& rank : recording.ranks)
    for (const RecordedOperation& op : rank.operations)  // operations of batch makers have no sums
      if (op.sums)
        most =
            std::max({most, op.count * op.width, all_reduce_memory(op.ranks, op.place, op.count, op.width)});
  return std::size_t(most);
}

/// A set of ranks that wait to be handled, ascending.
class RankSet {
 public:
  explicit RankSet(std::size_t ranks) : is_in_(ranks) {}
  void add(Rank rank) {
    if (!std::exchange(is_in_[std::size_t(rank)], 1)) ranks_.push_back(rank);
  }
  bool empty() const { return ranks_.empty(); }
  /// Takes all ranks and leaves the set empty. The result is valid until the next call.
  std::span<const Rank> take() {
    taken_.swap(ranks_);
    ranks_.clear();
    std::ranges::sort(taken_);
    for (const Rank rank : taken_) is_in_[std::size_t(rank)] = 0;
    return taken_;
  }

 private:
  std::vector<char> is_in_;  // by rank
  std::vector<Rank> ranks_, taken_;
};

class Replay final : private VirtualNetwork::Listener {
 public:
  Replay(const Recording& recording, const Topology& topology)
      : topology_(topology),
        no_values_(std::make_unique_for_overwrite<std::byte[]>(largest_sum(recording))),
        network_(topology, *this),
        may_go_on_(recording.ranks.size()),
        other_speed_(recording.ranks.size()),
        computed_at_(recording.ranks.size(), kNever) {
    for (std::size_t r = 0; r < recording.ranks.size(); ++r) {
      ranks_.push_back(std::make_unique<VirtualRank>(Rank(r), recording.ranks[r], topology, network_,
                                                     kernel_speed(recording, topology, Rank(r)),
                                                     no_values_.get()));
      may_go_on_.add(Rank(r)), other_speed_.add(Rank(r));
    }
  }

  Replayed run() {
    while (true) {
      go_on();
      share();
      const double next = std::min(network_.next_event(), next_computed());
      if (next == kNever) break;
      network_.advance(next);
      end_computing();
    }
    return result();
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  VirtualRank& at(Rank rank) { return *ranks_[std::size_t(rank)]; }
  double notice(Rank rank) override { return at(rank).notice(); }
  void may_go_on(Rank rank) override { may_go_on_.add(rank); }
  void processors_change(Rank rank) override { other_speed_.add(rank); }

  /// Lets all ranks go on that can. A rank's post never lets another rank go on at the same instant, because
  /// messages take time.
  void go_on() {
    while (!may_go_on_.empty())
      for (const Rank rank : may_go_on_.take()) {
        at(rank).go_on();
        other_speed_.add(rank);
      }
  }

  /// Divides each rank's processors between its computing and its messages: messages take what they need, up
  /// to their fair part.
  void share() {
    const std::span<const Rank> changed = other_speed_.take();
    for (const Rank rank : changed) {
      const int computing = at(rank).computing();
      const double all = topology_.cores,
                   fair = computing > 0 ? std::max(all - computing, all / (1 + computing)) : all;
      network_.set_processors(rank, std::min(1.0, fair));
    }
    for (const Rank rank : changed) other_speed_.add(rank);
    network_.share();
    for (const Rank rank : other_speed_.take()) {
      at(rank).set_processors(topology_.cores - network_.processors_taken(rank));
      if (const double at_time = at(rank).computed_at();
          std::exchange(computed_at_[std::size_t(rank)], at_time) != at_time && at_time < kNever)
        computing_.emplace(at_time, rank);
    }
  }

  /// The next time at which a rank has computed its segment. Skips outdated times, which were queued before a
  /// rank became faster or slower.
  double next_computed() {
    while (!computing_.empty()) {
      const auto& [time, rank] = computing_.top();
      if (time == computed_at_[std::size_t(rank)]) return time;
      computing_.pop();
    }
    return kNever;
  }

  void end_computing() {
    while (next_computed() <= network_.now()) {
      const Rank rank = computing_.top().second;
      computing_.pop();
      computed_at_[std::size_t(rank)] = kNever;
      at(rank).end_computing();
      may_go_on_.add(rank);
    }
  }

  Replayed result() {
    Replayed replayed;
    std::string standing;
    for (const auto& rank : ranks_) {
      if (!rank->is_through()) standing += (standing.empty() ? "" : "; ") + rank->wait_in_words();
      replayed.ranks.push_back(rank->epochs());
    }
    if (!standing.empty()) fail("the ranks wait for each other for ever: {}", standing);
    return replayed;
  }

  const Topology& topology_;
  std::unique_ptr<std::byte[]> no_values_;
  std::vector<std::unique_ptr<VirtualRank>> ranks_;
  VirtualNetwork network_;
  RankSet may_go_on_, other_speed_;
  std::vector<double> computed_at_;  // by rank
  using Computed = std::pair<double, Rank>;
  std::priority_queue<Computed, std::vector<Computed>, std::greater<>> computing_;
};

}  // namespace

double ReplayedEpoch::waited() const {
  double seconds = 0;
  for (const double each : exposed) seconds += each;
  return seconds;
}

std::vector<double> Replayed::epochs() const {
  std::vector<double> ends, lengths;
  for (std::size_t e = 0; !ranks.empty() && e < ranks[0].size(); ++e) {
    double last = 0;
    for (const auto& rank : ranks) last = std::max(last, rank[e].end);
    ends.push_back(last);
  }
  for (std::size_t e = 1; e < ends.size(); ++e) lengths.push_back(ends[e] - ends[e - 1]);
  return lengths;
}

Replayed replay(const Recording& recording, const Topology& topology) {
  check_ranks(topology, int(recording.ranks.size()));
  return Replay(recording, topology).run();
}

}  // namespace atl
