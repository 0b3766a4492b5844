// What a rank's computing costs, by what it holds: fitted to ranks that were recorded, one law for each
// segment of an epoch.
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

/// What the cost of a segment grows with: nothing, owned rows, halo rows, arcs.
inline constexpr std::size_t kSizes = 4;
using Sizes = std::array<double, kSizes>;
Sizes sizes_of(const RankShape& shape);

/// Factors of sizes, none below 0, whose sum of products comes closest to `seconds`, each relative to itself.
Sizes fitted(std::span<const Sizes> sizes, std::span<const double> seconds);

class CostLaw {
 public:
  struct Known {
    Sizes sizes;
    const RankRecording* rank;
  };
  explicit CostLaw(const std::vector<Known>& known);

  /// Whether it does no work but that of the known.
  bool knows(const RankRecording& rank) const;
  /// Fills in the seconds of a rank's segments. Throws Error where it does work that none of the known does.
  void apply(const Sizes& sizes, RankRecording& rank) const;

 private:
  /// Epoch, work, layer, and which of the segments of that work.
  using Segment = std::tuple<std::int64_t, Work, std::int32_t, int>;
  /// Calls look(segment, step) for each step that computes.
  template <class Ranks, class Look>
  static void for_each_segment(Ranks& rank, Look look);

  std::map<Segment, Sizes> factors_;
};

/// By how much laws that are fitted without a rank miss its computing, relative; the mean over ranks whose
/// work others do, too.
double left_out_error(const std::vector<CostLaw::Known>& known);

}  // namespace atl
