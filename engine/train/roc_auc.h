// The area under the ROC curve over all ranks' rows.
#pragma once

#include <optional>
#include <vector>

#include "comm/communicator.h"
#include "train/rank_data.h"

namespace atl {

/// Of one class: scores of positives and negatives, ties counted half. Absent unless both occur.
std::optional<double> roc_auc(std::vector<std::pair<float, bool>> scored);

/// Two classes: of logit 1 − logit 0 against label 1. Multi-label: the mean over classes where both occur
/// (OGB's rule). Rank 0 gets the scores of all ranks' `rows`, one class after the other, and tells the result: it holds 16
/// bytes for each of the split's vertices, every other rank 8 for each of its own. Logits are where the host reads them. Collective.
std::optional<double> roc_auc(Communicator& comm, const RankData& data, ConstMatrixView logits,
                              std::span<const VertexId> rows);

}  // namespace atl
