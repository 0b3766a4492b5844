// A default that a model or a strategy has instead of the field table's.
#pragma once

#include <string>

namespace atl {

/// As a manifest would write it.
struct OwnDefault {
  std::string path;   // "model.norm", "training.optimizer.weightDecay.convolutions"
  std::string value;  // "layer"
  std::string source;
};

}  // namespace atl
