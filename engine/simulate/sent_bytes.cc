#include "simulate/sent_bytes.h"

#include <cstddef>
#include <vector>

#include "comm/all_reduce.h"

namespace atl {
namespace {

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

  /// Round by round; of its values nothing but the address is used.
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
  std::vector<Message> sends_, receives_;  // of a sum's round
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

}  // namespace

SentBytes sent_bytes(const Recording& recording, const Topology& topology, int epochs) {
  SentBytes sum;
  for (Rank r = 0; r < Rank(recording.ranks.size()); ++r) {
    const SentBytes of_rank =
        sent_by(recording.ranks[std::size_t(r)], recording.epochs - epochs + 1, Counted(topology, r));
    sum.inside += of_rank.inside, sum.between += of_rank.between;
  }
  return {sum.inside / double(epochs), sum.between / double(epochs)};
}

}  // namespace atl
