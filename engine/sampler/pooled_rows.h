// A rank's own rows of features as one: what stands for them where they aren't looked at one by one.
#pragma once

#include <vector>

#include "sampler/batch_graph.h"

namespace atl {

/// (F) their mean; of training vertices alone where training sees no others. 0 where there are none.
std::vector<Real> mean_features(const BatchGraph& graph, Rank rank, bool training_alone);

}  // namespace atl
