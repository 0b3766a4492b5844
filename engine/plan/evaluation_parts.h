// What an evaluation's bytes are of, where exact inference goes by slabs of rows (strategies/schedule/slab_inference.h). In the ledger they are one
// purpose, Traffic::kEvaluation.
#pragma once

#include <array>
#include <cstdint>

namespace atl {

enum class EvaluationPart {
  kStructure,  // which rows slabs read, and by which arcs: asked for, or pushed to who computes the first layer by columns
  kRows,  // rows of other ranks, and which: features, what layers made of them, or what is put together from columns
  kSummands,  // of the first layer's product, where features are held by columns; of every row, to its owner
  kScores,    // likewise, attention's
  kMetric,    // what metrics are made of (metric_traffic.h)
};
inline constexpr std::array<const char*, 5> kEvaluationPartNames = {"structure", "rows", "summands", "scores",
                                                                    "metric"};
using EvaluationParts = std::array<std::int64_t, kEvaluationPartNames.size()>;  // bytes, by EvaluationPart

}  // namespace atl
