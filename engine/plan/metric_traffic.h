// Messages between ranks that turn an evaluation's logits into its metrics (train/evaluation.h), beside the
// forward pass.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "dataset/dataset.h"
#include "job/job.h"
#include "plan/pair_sizes.h"

namespace atl {

/// How many of a rank's vertices are in each split: training, validation, test.
using ScoredRows = std::array<Index, 3>;
ScoredRows split_counts(const Job& job, const Dataset& dataset, std::span<const VertexId> owned);

/// Bytes that the rank sends. `scored`: of the vertices whose logits it has.
std::int64_t metric_bytes(const Job& job, const DatasetMeta& meta, int ranks, Rank rank,
                          const ScoredRows& scored);

/// Bytes that the rank sends for the metrics of pairs (LinkTask::evaluate): rows of the pairs' ends, and all
/// scores to rank 0.
std::int64_t pair_metric_bytes(const Job& job, int ranks, Rank rank, const PairSizes& pairs);

// An evaluation's bytes by what they carry, where exact inference goes by slabs of rows
// (strategies/schedule/layerwise_inference.h). The ledger books them all as Traffic::kEvaluation.

enum class EvaluationPart {
  // which rows slabs read, and by which arcs: requested, or pushed to ranks that compute the first layer by
  // columns
  kStructure,
  // rows of other ranks and their ids: features, outputs of layers, or products summed over columns
  kRows,
  kSummands,  // of the first layer's product, where features are held by columns: each row's summands go to
              // its owner
  kScores,    // attention's scores, likewise
  kMetric,    // what metrics are computed from
};
inline constexpr std::array<const char*, 5> kEvaluationPartNames = {"structure", "rows", "summands", "scores",
                                                                    "metric"};
using EvaluationParts = std::array<std::int64_t, kEvaluationPartNames.size()>;  // bytes, by EvaluationPart

}  // namespace atl
