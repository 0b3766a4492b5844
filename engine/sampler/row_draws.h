// Draws neighbours of rows whose arcs this process can read: what a mapped structure does for its own rows,
// and an owner for those who ask. Draws are keyed by (seed, step, layer, vertex of the data set, draw). They
// choose places in the vertex's list of neighbours, which is in order of the data set's ids. So they are the
// same whoever draws, on any number of ranks and threads.
//
// Self-loops are never left out: they come first, and count neither as neighbours nor in the fanout. Rows are
// read in groups, each step of a group asking memory for what the next step reads.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/threads.h"
#include "partition/prepared_graph.h"
#include "sampler/draw_positions.h"
#include "sampler/kept_arcs.h"
#include "sampler/remote_draws.h"

namespace atl {

// How many neighbours a vertex reads in each layer that gathers, and what is wrong with a wish for it.

/// A fanout that means all neighbours.
inline constexpr int kAllNeighbours = -1;

/// fanout: by gathering layer, the one nearest to the input first. Throws Error, which begins with `field`,
/// unless there is one for each of `layers` layers, each 1 or more, or −1.
void check_fanout(std::span<const int> fanout, int layers, const std::string& field);

/// What a step draws for one gathering layer.
struct HopDraw {
  Draws draws;                          // of (seed, Purpose::kNeighbour, step, layer)
  int fanout = kAllNeighbours;          // neighbours of a vertex
  bool replace = false;                 // one neighbour may be drawn several times
  const RemoteDraws* remote = nullptr;  // how those of own rows are drawn by their owner; null: all alike
  const KeptArcs* kept = nullptr;       // of all neighbours, those alone; null: there is no such choice

  bool weighs() const { return kept != nullptr && kept->weighs(); }
};

/// A row's arcs before anything is drawn.
struct RowHead {
  std::uint32_t loops = 0;   // kept in any case
  std::uint32_t others = 0;  // drawn from
  double degree = 0;         // degree_of() the row

  /// Neighbours that are drawn; all of them where there are no more than the fanout, except with replacement.
  Index drawn(const HopDraw& hop) const {
    if (hop.fanout == kAllNeighbours) return others;
    if (hop.replace) return others == 0 ? 0 : hop.fanout;
    return std::min<Index>(others, hop.fanout);
  }
  Index arcs(const HopDraw& hop) const { return loops + drawn(hop); }
  bool whole(const HopDraw& hop) const {
    return hop.fanout == kAllNeighbours || (!hop.replace && others <= std::uint32_t(hop.fanout));
  }
  /// Neighbours that each drawn one stands for: Horvitz and Thompson's weight.
  float stands_for(const HopDraw& hop) const {
    return whole(hop) || others == 0 ? 1.f : float(double(others) / hop.fanout);
  }
};

/// The graph that is drawn from; views.
struct DrawnGraph {
  CsrView whole;                  // in prepared order, for layers that read all neighbours
  GraphById by_id;                // for the others; needn't be there (no columns) if there are none
  std::span<const VertexId> ids;  // (vertices) the data set's

  double degree(VertexId row) const;
};

/// One per sampling thread; `pool` is that thread's, too.
class RowDraws {
 public:
  RowDraws(const DrawnGraph& graph, ThreadPool& pool);

  const DrawnGraph& graph() const { return graph_; }
  /// Where the layer reads all neighbours, loops count as neighbours.
  void heads(const HopDraw& hop, std::span<const VertexId> rows, std::span<RowHead> heads);
  /// The arcs of row i at offsets[i] … offsets[i + 1] − 1, heads[i].arcs(hop) of them: columns, as prepared
  /// rows, and the arcs' own weights, where weights isn't empty.
  void arcs(const HopDraw& hop, std::span<const VertexId> rows, std::span<const RowHead> heads,
            std::span<const Index> offsets, std::span<VertexId> columns, std::span<float> weights);
  /// As Structure::describe().
  void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees);
  bool weighted() const { return graph_.whole.weights != nullptr; }

 private:
  /// Some rows, and where their arcs come to stand.
  struct Group {
    const VertexId* rows;
    const RowHead* heads;
    const Index* offsets;
    Index count;
    VertexId* columns;  // of all rows …
    float* weights;     // … or null
  };
  void draw_group(const HopDraw& hop, const Group& group, RemoteDraws::Scratch& scratch) const;
  void kept_heads(const HopDraw& hop, std::span<const VertexId> rows, std::span<RowHead> heads) const;
  void keep_group(const HopDraw& hop, const Group& group) const;
  double degree(const HopDraw& hop, VertexId row) const;

  const DrawnGraph graph_;
  ThreadPool& pool_;
  std::vector<RemoteDraws::Scratch> scratch_;  // by thread
};

}  // namespace atl
