// Draws the edges of a generated graph: decides how many edges each vertex draws, and to which vertices.
#pragma once

#include <span>
#include <vector>

#include "base/threads.h"
#include "dataset/generate/line.h"
#include "dataset/generate/shuffle.h"

namespace atl {

// Which vertices of the line an arc joins.

inline constexpr VertexId kNoVertex = -1;

/// Draws where an arc from a vertex ends: in the vertex's community, or at a distance whose octave is drawn.
class ArcModel {
 public:
  ArcModel(const CommunitySpec& spec, const Line& line);

  /// A candidate neighbour of u, drawn by degree from 64 random bits; outside its community if `far` and any
  /// arcs leave communities. kNoVertex if the distance leads off the line.
  VertexId draw(VertexId u, std::uint64_t bits, bool far) const;

 private:
  VertexId draw_far(VertexId u, std::uint64_t choice, std::uint64_t bits) const;

  const Line& line_;
  Mass district_;  // length of a district
  // Octave k: distances from length / 2^(k+1) to length / 2^k. until_[k]: 2³² × P(octave ≤ k).
  std::vector<std::uint64_t> until_;
};

/// Edges are numbered along the line, and a vertex draws those on its own stretch of the line. All arguments
/// outlive it.
class Edges {
 public:
  Edges(const CommunitySpec& spec, const Line& line, const ArcModel& model, const Shuffle& shuffle);

  Index count() const { return Index(count_); }
  /// The first edge that a vertex of the line draws; first(vertices()) is count().
  Index first(VertexId u) const { return Index(Product(count_) * line_.start(u) / line_.length()); }

  /// Fills out (first(end) − first(begin)) with the other ends, as final ids, of the edges that vertices
  /// begin … end − 1 of the line draw. kNoVertex where no neighbour could be found, which happens only to a
  /// vertex that is joined with almost all vertices in reach.
  void draw(VertexId begin, VertexId end, ThreadPool& threads, std::span<VertexId> out) const;

  /// Share of edges that join communities of the same group, estimated from a sample.
  double same_group_share() const;

 private:
  class Met;
  void draw_vertex(VertexId u, std::span<VertexId> out, Met& met) const;

  const CommunitySpec& spec_;
  const Line& line_;
  const ArcModel& model_;
  const Shuffle& shuffle_;
  Mass count_;
};

/// The graph with both directions of all edges and ascending rows.
Csr symmetric_csr(const Edges& edges, const Line& line, const Shuffle& shuffle, ThreadPool& threads);

/// Calls work(v, thread) for v = begin … end − 1; neighbouring vertices share a thread.
void for_vertices(VertexId begin, VertexId end, ThreadPool& threads,
                  FunctionRef<void(VertexId v, int thread)> work);

}  // namespace atl
