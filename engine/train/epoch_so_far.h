// What the steps of an epoch have added up to: with it a run that was killed between two steps goes on in the middle of
// its epoch.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace atl {

/// Sums over all ranks, but for the seconds.
struct EpochSoFar {
  double loss = 0;      // Σ …
  double vertices = 0;  // … over so many
  double seconds = 0;
  std::int64_t bytes_intra = 0, bytes_inter = 0;

  /// For checkpoints.
  void save(std::map<std::string, double>& scalars) const;
  /// Zeros where they have none.
  void load(const std::map<std::string, double>& scalars);
};

}  // namespace atl
