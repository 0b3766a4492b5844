// Which vertices of the line an arc joins.
#pragma once

#include <vector>

#include "dataset/generate/line.h"

namespace atl {

inline constexpr VertexId kNoVertex = -1;

/// Where an arc that starts at a vertex ends: in its community, or away by a distance whose octave is drawn.
class ArcModel {
 public:
  ArcModel(const CommunitySpec& spec, const Line& line);

  /// A candidate neighbour of u, drawn by degree with 64 random bits as the key; outside its community if
  /// `far` and any arcs leave. kNoVertex where the distance leaves the line.
  VertexId draw(VertexId u, std::uint64_t bits, bool far) const;

 private:
  VertexId draw_far(VertexId u, std::uint64_t choice, std::uint64_t bits) const;

  const Line& line_;
  Mass district_;  // length of one
  // Octave k: distances from length / 2^(k+1) to length / 2^k. until_[k]: 2³² × P(octave ≤ k).
  std::vector<std::uint64_t> until_;
};

}  // namespace atl
