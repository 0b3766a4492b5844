// Features for vertices that have none: --features one-hot, --features random:64.
#pragma once

#include <cstdint>
#include <string>

#include "dataset/feature_writer.h"

namespace atl {

/// One-hot: a column per vertex, so that the first layer's weight has a trained row per vertex, an embedding.
/// Random: normal numbers of mean 0 and deviation 1, keyed by seed, vertex and column. They are not trained,
/// and cost the same for any number of vertices.
struct MadeFeatures {
  Index random_columns = 0;  // 0: one-hot
  std::uint64_t seed = 1;

  Index columns(Index vertices) const { return random_columns > 0 ? random_columns : vertices; }
  /// Returns "one-hot" or "64 random columns, seed 1".
  std::string description() const;
};

/// Reads "one-hot" or "random:COLUMNS". Anything else is an Error that names --features.
MadeFeatures parse_made_features(const std::string& text, std::uint64_t seed);

void add_made_features(const MadeFeatures& made, Index vertices, FeatureWriter& writer);

}  // namespace atl
