// On which lane rows are asked for, and as what their bytes are counted.
#pragma once

#include "comm/communicator.h"

namespace atl {

struct RowRoute {
  Lane lane = Lane::kPrefetch;
  Traffic structure = Traffic::kStructure, ids = Traffic::kIds, features = Traffic::kFeatures;
};

/// Of an evaluation, by the compute thread, while batches for training may be on their way.
inline constexpr RowRoute kEvaluationRoute{Lane::kBulk, Traffic::kEvaluation, Traffic::kEvaluation,
                                           Traffic::kEvaluation};

}  // namespace atl
