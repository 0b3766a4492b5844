// Draws a vertex's neighbours by where they are and how much they matter (DGS, Wan et al. 2022, section
// III-C). A mask gives each neighbour on another rank a weight. `shift` draws more of the rank's own
// neighbours instead of other ranks', with the same total. A vertex's owner draws for every rank that asks,
// by the owner's mask.
//
// A vertex has d neighbours, o of them on other ranks, and k are drawn. Of these k · s − k · shift are on
// other ranks, as far as either side has enough neighbours; a fraction becomes one more with that
// probability. s is o / d, or, if the mask's sum is weighed against the number of own neighbours, Σp / (d − o
// + Σp). Own neighbours are drawn with equal probability. Others are drawn one after the other, each in
// proportion to its p among those left (Efraimidis & Spirakis 2006: the k smallest of −ln u / p).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sampler/draw_positions.h"
#include "sampler/owners.h"

namespace atl {

struct DrawnGraph;

/// Which neighbours of a rank's own rows are on other ranks. Memory grows with these arcs.
class RemoteArcs {
 public:
  /// All arguments outlive it.
  RemoteArcs(const DrawnGraph& graph, const Owners& owners, Rank rank);

  /// Rows of other ranks that any own row reads, ascending; the mask has a weight for each.
  std::span<const VertexId> vertices() const { return vertices_; }
  struct Arc {
    VertexId position;  // among the row's neighbours, without self-loops
    VertexId vertex;    // place in vertices()
  };
  /// The row's arcs, by ascending position.
  std::span<const Arc> of(VertexId row) const {
    const auto own = std::size_t(row - first_row_);
    return {arcs_.data() + offsets_[own], std::size_t(offsets_[own + 1] - offsets_[own])};
  }
  Index bytes() const {
    return Index(offsets_.size() * sizeof(Index) + arcs_.capacity() * sizeof(Arc) +
                 vertices_.capacity() * sizeof(VertexId));
  }

 private:
  Index first_row_;
  std::vector<Index> offsets_;  // (own rows + 1)
  std::vector<Arc> arcs_;
  std::vector<VertexId> vertices_;
};

class RemoteDraws final : public NeighbourDraws {
 public:
  /// What decides other ranks' share of a draw: numbers of neighbours, or the mask's sum.
  enum class Split { kNeighbours, kMask };

  /// `arcs` outlives it. probabilities (arcs.vertices()), above 0; views, which may change between draws.
  RemoteDraws(const RemoteArcs& arcs, std::span<const double> probabilities, double shift, Split split)
      : arcs_(arcs), probabilities_(probabilities), shift_(shift), split_(split) {}

  void draw(std::uint64_t key, VertexId row, std::uint32_t size, bool replace, std::span<VertexId> positions,
            Scratch& scratch) const override;

 private:
  /// How many of `drawn` neighbours are on other ranks.
  Index others(std::uint64_t key, std::span<const RemoteArcs::Arc> arcs, std::uint32_t size, bool replace,
               Index drawn) const;
  double probability(const RemoteArcs::Arc& arc) const { return probabilities_[std::size_t(arc.vertex)]; }
  void draw_own(std::uint64_t key, std::span<const RemoteArcs::Arc> arcs, std::uint32_t size, bool replace,
                std::span<VertexId> positions, Scratch& scratch) const;
  void draw_others(std::uint64_t key, std::span<const RemoteArcs::Arc> arcs, bool replace,
                   std::span<VertexId> positions, Scratch& scratch) const;

  const RemoteArcs& arcs_;
  std::span<const double> probabilities_;
  double shift_;
  Split split_;
};

}  // namespace atl
