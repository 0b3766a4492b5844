// The session's side of link prediction: a step's loss over pairs of vertices, whatever the strategy, and metrics over those of the edge
// split. A layer's rows come from the schedule; rows of ends that other ranks have are exchanged (end_exchange.h).
#pragma once

#include <optional>

#include "sampler/pairs/pair_draws.h"
#include "strategies/schedule/schedule.h"
#include "train/evaluation.h"
#include "train/links/end_exchange.h"
#include "telemetry/link_metrics.h"
#include "train/rank_data.h"

namespace atl {

/// How many pairs' ends are fetched at a time where edges are measured.
inline constexpr Index kScoredPairs = Index(1) << 16;

class LinkTask {
 public:
  /// References outlive it.
  LinkTask(Context& ctx, Communicator& comm, const Job& job, const RankData& data, const Model& model);

  /// Of step `step` (from 1): this rank's Σ of the loss. d_rows (as rows) is written, and the weights' gradients are added to. Collective.
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
