#include "plan/simulate/replay.h"

#include <algorithm>
#include <limits>
#include <memory>

#include "base/error.h"
#include "plan/simulate/virtual_rank.h"

namespace atl {
namespace {

/// Bytes that the largest sum's values and terms would take: addresses, never touched.
std::size_t largest_sum(const Recording& recording) {
  std::int64_t most = 1;
  for (const RankRecording& rank : recording.ranks)
    for (const RecordedOperation& op : rank.operations)
      if (op.sums)
        most =
            std::max({most, op.count * op.width, all_reduce_memory(op.ranks, op.place, op.count, op.width)});
  return std::size_t(most);
}

class Replay {
 public:
  Replay(const Recording& recording, const Topology& topology)
      : topology_(topology),
        no_values_(std::make_unique_for_overwrite<std::byte[]>(largest_sum(recording))),
        network_(topology, [this](Rank rank) { return ranks_[std::size_t(rank)]->notice(); }),
        is_changed_(recording.ranks.size(), 1) {
    for (std::size_t r = 0; r < recording.ranks.size(); ++r)
      ranks_.push_back(
          std::make_unique<VirtualRank>(Rank(r), recording.ranks[r], topology, network_, no_values_.get()));
  }

  Replayed run() {
    while (true) {
      go_on();
      share();
      const double next = next_event();
      if (next == std::numeric_limits<double>::infinity()) break;
      for (std::size_t r = 0; r < ranks_.size(); ++r)
        if (ranks_[r]->compute_until(next)) is_changed_[r] = 1;
      network_.advance(next, [this](Rank rank) { is_changed_[std::size_t(rank)] = 1; });
    }
    return result();
  }

 private:
  /// What one rank posts never lets another go on at the same time: messages take theirs.
  void go_on() {
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      if (std::exchange(is_changed_[r], 0)) ranks_[r]->go_on();
  }

  /// A rank's computing and its messages share its processors: messages take what they need, up to their fair part.
  void share() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      const double all = topology_.cores, fair = ranks_[r]->computes() ? std::max(all - 1, all / 2) : all;
      network_.set_processors(Rank(r), std::min(1.0, fair));
    }
    network_.share();
    for (std::size_t r = 0; r < ranks_.size(); ++r)
      ranks_[r]->set_speed(std::min(1.0, topology_.cores - network_.processors_taken(Rank(r))));
  }

  double next_event() const {
    double next = network_.next_event();
    for (const auto& rank : ranks_) next = std::min(next, rank->computed_at());
    return next;
  }

  Replayed result() {
    Replayed replayed{.bytes_inside = network_.bytes_inside(), .bytes_between = network_.bytes_between()};
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
  std::vector<char> is_changed_;  // by rank: it may go on
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
