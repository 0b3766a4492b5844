// Which vertices of the line are joined.
#pragma once

#include <vector>

#include "dataset/generate_line.h"
#include "dataset/generate_shuffle.h"

namespace atl {

/// Where an arc that starts at a vertex ends: in its community, or away by a distance whose octave is drawn.
class ArcModel {
 public:
  ArcModel(const CommunitySpec& spec, const Line& line);

  /// A candidate neighbour of u, drawn by degree from 128 random bits; −1 where the distance leaves the line.
  VertexId draw(VertexId u, std::uint64_t bits, bool far) const;

 private:
  VertexId draw_far(VertexId u, std::uint64_t choice, std::uint64_t bits) const;

  const Line& line_;
  // Octave k: distances from length / 2^(k+1) to length / 2^k. until_[k]: 2³² × P(octave ≤ k).
  std::vector<std::uint64_t> until_;
};

/// Share of arcs whose two communities are of one group, from the arcs of some thousand vertices.
double same_group_share(const CommunitySpec& spec, const Line& line, const ArcModel& model,
                        const Shuffle& shuffle);

/// All arcs, ids shuffled, both directions, rows ascending. See CommunityGraph::arcs.
Csr draw_graph(const CommunitySpec& spec, const Line& line, const ArcModel& model, const Shuffle& shuffle,
               ThreadPool& threads);

}  // namespace atl
