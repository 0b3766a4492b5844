// Laws for what a rank's computing costs, given what the rank holds: one law for each segment of an epoch,
// fitted to ranks that were recorded.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <tuple>
#include <vector>

#include "plan/rank_shape.h"
#include "simulate/recording.h"

namespace atl {

/// The sizes with which the cost of a segment grows: a constant, owned rows, halo rows, arcs.
inline constexpr std::size_t kSizes = 4;
using Sizes = std::array<double, kSizes>;
Sizes sizes_of(const RankShape& shape);

/// The factors ≥ 0 for which Σ size · factor comes closest to `seconds`. Errors are relative to each rank's
/// seconds.
Sizes fitted(std::span<const Sizes> sizes, std::span<const double> seconds);

class CostLaw {
 public:
  struct Known {
    Sizes sizes;
    const RankRecording* rank;
  };
  explicit CostLaw(const std::vector<Known>& known);

  /// Whether the rank does only kinds of work that known ranks do.
  bool knows(const RankRecording& rank) const;
  /// Fills in the seconds of a rank's segments. Throws Error where none of the known ranks does such work.
  void apply(const Sizes& sizes, RankRecording& rank) const;

 private:
  /// Epoch, work, layer, and the segment's number within that work.
  using Segment = std::tuple<std::int64_t, Work, std::int32_t, int>;
  /// Calls look(segment, step) for each step that computes.
  template <class Ranks, class Look>
  static void for_each_segment(Ranks& rank, Look look);

  std::map<Segment, Sizes> factors_;
};

/// The mean relative error of a rank's computing under laws that are fitted without that rank. It is over the
/// ranks whose kinds of work other ranks do too.
double left_out_error(const std::vector<CostLaw::Known>& known);

}  // namespace atl
