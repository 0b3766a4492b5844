// What ranks tell each other to make an evaluation's metrics of their logits (train/evaluation.h), beside its
// pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataset/dataset.h"
#include "job/job.h"
#include "plan/pair_sizes.h"

namespace atl {

/// Of a rank's vertices, those of each split: training, validation, test.
using ScoredRows = std::array<Index, 3>;
ScoredRows split_counts(const Job& job, const Dataset& dataset, std::span<const VertexId> owned);

/// Bytes that the rank sends. `scored`: of vertices whose logits it has.
std::int64_t metric_bytes(const Job& job, const DatasetMeta& meta, int ranks, Rank rank,
                          const ScoredRows& scored);

/// The same of pairs (LinkTask::evaluate): their ends' rows, and all scores to rank 0.
std::int64_t pair_metric_bytes(const Job& job, int ranks, Rank rank, const PairSizes& pairs);

// What an evaluation's bytes are of, where exact inference goes by slabs of rows
// (strategies/schedule/layerwise_inference.h). In the ledger they are one purpose, Traffic::kEvaluation.

enum class EvaluationPart {
  // which rows slabs read, and by which arcs: asked for, or pushed to who computes the first layer by columns
  kStructure,
  // rows of other ranks, and which: features, what layers made of them, or what is put together from columns
  kRows,
  kSummands,  // of the first layer's product, where features are held by columns; of every row, to its owner
  kScores,    // likewise, attention's
  kMetric,    // what metrics are made of
};
inline constexpr std::array<const char*, 5> kEvaluationPartNames = {"structure", "rows", "summands", "scores",
                                                                    "metric"};
using EvaluationParts = std::array<std::int64_t, kEvaluationPartNames.size()>;  // bytes, by EvaluationPart

}  // namespace atl
