// The session's side of link prediction, the same for all strategies: the loss of a step over pairs of
// vertices, and metrics over the edge split's pairs. The schedule computes the embeddings of own vertices;
// embeddings of pairs' ends that other ranks own are exchanged here.
#pragma once

#include <optional>
#include <vector>

#include "model/decoder.h"
#include "sampler/owners.h"
#include "sampler/pairs/pair_draws.h"
#include "sampler/pairs/pair_graph.h"
#include "strategies/schedule/schedule.h"
#include "telemetry/link_metrics.h"
#include "train/evaluation.h"
#include "train/rank_data.h"

namespace atl {

// Fetches the rows of pairs' ends that other ranks own, each once, and sends their gradients back. Unlike in
// a halo exchange, each step needs other rows.

class EndExchange final : public PairPieces {
 public:
  /// Both arguments must outlive it. Calls are collective, by the compute thread.
  EndExchange(const Owners& owners, Communicator& comm);

  /// Fetches rows for the rank's pairs. `place_of` (own rows): each own row's number among `rows`. `rows`
  /// (any, width) are in the host's memory. All arguments must outlive the calls that follow.
  void fetch(Traffic purpose, const StepPairs& pairs, std::span<const VertexId> place_of,
             ConstMatrixView rows);
  EndRows rows() const { return {own_, sent_.view()}; }
  /// Number of the pairs that were given to fetch().
  Index size() const override { return pairs_->size(); }
  EndPairs piece(Index begin, Index count) override;

  /// Where gradients are added: `own` (shaped like `rows`), and a matrix for other ranks' rows, which this
  /// zeroes.
  EndGradients gradients(MatrixView own);
  /// Call after gradients() are complete: adds other ranks' gradients for rows of `own` to it, in the order
  /// of ranks.
  void give_back(MatrixView own);

  Index reallocations() const {
    return source_.reallocations() + destination_.reallocations() + requests_.reallocations();
  }

 private:
  VertexId number_of(VertexId row) const;

  const Owners& owners_;
  Communicator& comm_;
  RowRequests requests_;
  std::vector<VertexId> wanted_;             // other ranks' rows, ascending
  std::vector<VertexId> number_of_;          // (wanted) its row in sent_
  std::vector<VertexId> asked_;              // rows of `rows` that others want, grouped by rank
  Reusable<VertexId> source_, destination_;  // row numbers of a piece's ends
  const StepPairs* pairs_ = nullptr;
  std::span<const VertexId> place_of_;
  ConstMatrixView own_;
  Matrix sent_, d_sent_;  // (wanted, width), grouped by owner
  Matrix out_, d_out_;    // (asked, width)
};

/// How many pairs' ends are fetched at a time for metrics.
inline constexpr Index kScoredPairs = Index(1) << 16;

class LinkTask {
 public:
  /// References must outlive it.
  LinkTask(Context& ctx, Communicator& comm, const Job& job, const RankData& data, const Model& model);

  /// Returns this rank's Σ of the loss of step `step` (from 1). Writes d_rows (shaped like rows), and adds to
  /// the weights' gradients. Collective.
  double loss(std::int64_t step, ConstMatrixView rows, const LossRows& of, const WeightVersion& weights,
              MatrixView d_rows);

  /// Metrics of embeddings (owned, width) over the edge split's pairs. Collective, like all that follow.
  Evaluation evaluate(ConstMatrixView embeddings, const WeightVersion& weights);
  /// After evaluate(): metrics of the test pairs.
  const std::optional<LinkMetrics>& test() const { return test_; }
  /// Writes the scores (pairs) of own pairs. `most`: the largest number of pairs of any rank.
  void score(ConstMatrixView embeddings, const WeightVersion& weights, const StepPairs& pairs, Index most,
             std::vector<Real>& scores);

 private:
  void place_training_rows(const LossRows& of);
  void place_rows(std::span<const VertexId> ids);
  struct Measured {
    std::optional<LinkMetrics> metrics;
    double loss = 0;  // mean over pairs
  };
  Measured measure(ConstMatrixView embeddings, const WeightVersion& weights, const LinkData::Measured& pairs);

  Context& ctx_;
  Communicator& comm_;
  const Job& job_;
  const RankData& data_;
  Workspace host_workspace_;
  Context host_;
  Decoder decoder_;
  EndExchange exchange_;
  PairDraws draws_;
  StepPairs pairs_, piece_;
  std::vector<VertexId> place_of_;  // (own rows) its row in the schedule's output, or −1
  HostRows rows_here_;
  Matrix d_rows_;  // used where the host's memory isn't the device's
  DeviceCopies copies_;
  std::vector<Real> scores_;
  std::optional<LinkMetrics> test_;
};

}  // namespace atl
