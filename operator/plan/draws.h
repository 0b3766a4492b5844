// Draws of a search: the same numbers in the same order for the same seed.
#pragma once

#include <cstdint>

#include "base/random.h"

namespace atl::ctl {

class Draws {
 public:
  explicit Draws(std::uint64_t seed) : state_(seed) {}

  /// A number from 0 to `below` − 1.
  std::size_t below(std::size_t below) { return std::size_t((state_ = mix64(state_)) % below); }

 private:
  std::uint64_t state_;
};

}  // namespace atl::ctl
