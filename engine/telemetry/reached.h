// How far a run has come.
#pragma once

#include <fmt/format.h>

#include <compare>
#include <string>

#include "base/types.h"

namespace atl {

struct Reached {
  Index epochs = 0;  // completed
  Index steps = 0;   // of the epoch after them
  bool operator==(const Reached&) const = default;
  std::strong_ordering operator<=>(const Reached& other) const {
    return epochs != other.epochs ? epochs <=> other.epochs : steps <=> other.steps;
  }
};

/// "epoch 3", "step 12 of epoch 4".
inline std::string reached_text(const Reached& r) {
  return r.steps == 0 ? fmt::format("epoch {}", r.epochs)
                      : fmt::format("step {} of epoch {}", r.steps, r.epochs + 1);
}

}  // namespace atl
