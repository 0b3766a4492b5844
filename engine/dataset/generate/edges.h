// The edges of a generated graph: how many each vertex draws, and the drawing.
#pragma once

#include <span>
#include <vector>

#include "base/threads.h"
#include "dataset/generate/line.h"
#include "dataset/generate/shuffle.h"

namespace atl {

// Which vertices of the line an arc joins.

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

/// Edges are numbered along the line; a vertex draws those that its stretch of the line holds. What is
/// referred to must live as long.
class Edges {
 public:
  Edges(const CommunitySpec& spec, const Line& line, const ArcModel& model, const Shuffle& shuffle);

  Index count() const { return Index(count_); }
  /// First edge that a vertex of the line draws; of vertices(): count().
  Index first(VertexId u) const { return Index(Product(count_) * line_.start(u) / line_.length()); }

  /// out (first(end) − first(begin)): the other ends, as final ids, of the edges that vertices begin … end −
  /// 1 of the line draw. kNoVertex where no neighbour could be found, which takes a vertex that has met
  /// almost everybody in reach.
  void draw(VertexId begin, VertexId end, ThreadPool& threads, std::span<VertexId> out) const;

  /// Share of edges whose two communities are of one group, from a sample.
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

/// Both directions of all edges, rows ascending.
Csr symmetric_csr(const Edges& edges, const Line& line, const Shuffle& shuffle, ThreadPool& threads);

/// Calls work(v, thread) for v = begin … end − 1, neighbouring ones on one thread.
void for_vertices(VertexId begin, VertexId end, ThreadPool& threads,
                  FunctionRef<void(VertexId v, int thread)> work);

}  // namespace atl
