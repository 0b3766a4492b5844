// Historical embeddings in a plan (sampler/history/): which rows ranks keep, and what their batches push to each other. Which rows a batch
// computes depends on nothing that is pushed, so that all ranks' pushes are known before one goes through its steps.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "plan/batch_source.h"
#include "sampler/history/history_pushes.h"

namespace atl {

class PlannedHistory {
 public:
  /// Both outlive it.
  PlannedHistory(const BatchSource& source, const Owners& owners, const HistoryOptions& options);

  const HistoryOptions& options() const { return options_; }
  const HistoryRows& rows(Rank rank) const { return *rows_[std::size_t(rank)]; }
  /// A rank's batches, one step after the other.
  void note(Rank rank, const Batch& batch);
  /// What a batch pushes and gets, once all ranks' have been noted. step: from 0.
  void pushes(Rank rank, std::int64_t step, const Batch& batch, StepPushes& into);

 private:
  /// Of one rank's batch: what its keepers get.
  struct Noted {
    std::vector<VertexId> places;  // by keeper
    std::vector<Index> begins, counts;
  };
  HistoryOptions options_;
  std::vector<std::unique_ptr<HistoryRows>> rows_;  // by rank
  std::vector<std::vector<Noted>> noted_;           // by rank and step
  PushedRows leaving_;
  Recycled<VertexId> places_;
};

}  // namespace atl
