// The session's side of link prediction, the same under every strategy: the loss of a step over pairs of
// vertices, and metrics over the edge split's pairs. The schedule computes the embeddings of own vertices;
// those of a pair's ends that other ranks own are exchanged here.
#pragma once

#include <optional>
#include <vector>

#include "model/decoder.h"
#include "sampler/pairs/pair_draws.h"
#include "sampler/pairs/step_pairs.h"
#include "sampler/row_requests.h"
#include "strategies/schedule/schedule.h"
#include "telemetry/link_metrics.h"
#include "train/evaluation.h"
#include "train/rank_data.h"

namespace atl {

// Fetches the rows of pairs' ends that other ranks own, each once, and sends their gradients back. Unlike a
// halo exchange, each step wants other rows.

class EndExchange final : public PairPieces {
 public:
  /// Both outlive it. Collective calls, by the compute thread.
  EndExchange(const Owners& owners, Communicator& comm);

  /// Of the rank's pairs: `place_of` (own rows) says which row of `rows` an own row is. `rows` (any, width)
  /// are in the host's memory. All outlive the calls that follow.
  void fetch(Traffic purpose, const StepPairs& pairs, std::span<const VertexId> place_of,
             ConstMatrixView rows);
  EndRows rows() const { return {own_, sent_.view()}; }
  /// Of those pairs.
  Index size() const override { return pairs_->size(); }
  EndPairs piece(Index begin, Index count) override;

  /// Where gradients are added: `own` (shaped as `rows`), and a matrix for other ranks' rows, which is zeroed
  /// here.
  EndGradients gradients(MatrixView own);
  /// Call after gradients(): adds to `own` the gradients that other ranks have for its rows, in the order of
  /// ranks.
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
  std::vector<VertexId> number_of_;          // (wanted) which row of sent_ each is
  std::vector<VertexId> asked_;              // rows of `rows` that others want, grouped by rank
  Reusable<VertexId> source_, destination_;  // of a piece
  const StepPairs* pairs_ = nullptr;
  std::span<const VertexId> place_of_;
  ConstMatrixView own_;
  Matrix sent_, d_sent_;  // (wanted, width), grouped by owner
  Matrix out_, d_out_;    // (asked, width)
};

/// How many pairs' ends are fetched at a time where edges are measured.
inline constexpr Index kScoredPairs = Index(1) << 16;

class LinkTask {
 public:
  /// References outlive it.
  LinkTask(Context& ctx, Communicator& comm, const Job& job, const RankData& data, const Model& model);

  /// Of step `step` (from 1): this rank's Σ of the loss. d_rows (as rows) is written, and the weights'
  /// gradients are added to. Collective.
  double loss(std::int64_t step, ConstMatrixView rows, const LossRows& of, const WeightVersion& weights,
              MatrixView d_rows);

  /// What the edge split's pairs say of embeddings (owned, width). Collective, as all that follows.
  Evaluation evaluate(ConstMatrixView embeddings, const WeightVersion& weights);
  /// After evaluate(): of the test pairs.
  const std::optional<LinkMetrics>& test() const { return test_; }
  /// scores (pairs) of own pairs, of which some rank has `most`.
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
  std::vector<VertexId> place_of_;  // (own rows) row of the schedule's, or −1
  HostRows rows_here_;
  Matrix d_rows_;  // where the host's memory isn't the device's
  DeviceCopies copies_;
  std::vector<Real> scores_;
  std::optional<LinkMetrics> test_;
};

}  // namespace atl
