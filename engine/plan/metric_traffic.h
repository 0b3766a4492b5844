// What ranks tell each other to make an evaluation's metrics of their logits (train/evaluation.h), beside its pass.
#pragma once

#include <array>
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

}  // namespace atl
