// Which features have a value in the rows of a step's batches, over all ranks: of what isn't among them the first layer's weights have
// no gradient (train/touched_rows.h).
#pragma once

#include <vector>

#include "comm/communicator.h"
#include "sampler/feature_rows.h"

namespace atl {

/// One per sampling thread, which makes all calls.
class TouchedFeatures {
 public:
  /// Of so many features. comm outlives it.
  TouchedFeatures(Communicator& comm, Index features);

  /// Of transposed sparse rows; `all`: ascending. Collective: each rank sends every other a bit for each feature.
  void find(const FeatureRows& rows, Reusable<VertexId>& all);
  /// What a rank sends for a step.
  static Index bytes_sent(int ranks, Index features) { return 4 * BitView::words_of(features) * (ranks - 1); }

 private:
  Communicator& comm_;
  Index features_;
  std::vector<std::uint32_t> mine_, theirs_;  // (words), (ranks, words)
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
