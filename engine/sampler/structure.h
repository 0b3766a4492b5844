// The arcs that sampling draws from. Either every rank reads all arcs (mapped files), or each rank reads its
// own parts' arcs and others ask it for them. The draws are the same either way.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/reusable.h"
#include "base/threads.h"
#include "comm/communicator.h"
#include "partition/prepared_graph.h"
#include "sampler/draw_positions.h"
#include "sampler/kept_arcs.h"
#include "sampler/owners.h"

namespace atl {

// Draws neighbours of rows whose arcs this process can read: its own rows in a mapped structure, or an
// owner's rows for the ranks that ask. Draws are keyed by (seed, step, layer, vertex of the data set, draw).
// They choose places in the vertex's list of neighbours, which is in order of the data set's ids. So the
// draws are the same whichever rank makes them, on any number of ranks and threads.
//
// Self-loops are never left out. They come first, and count neither as neighbours nor in the fanout. Rows are
// read in groups; each pass over a group prefetches what the next pass reads.

// How many neighbours a vertex reads in each gathering layer, and the check of a user's wish for it.

/// A fanout that means all neighbours.
inline constexpr int kAllNeighbours = -1;

/// `fanout`: by gathering layer, the one nearest to the input first. Throws Error, which begins with `field`,
/// unless it has `layers` values, each 1 or more, or −1.
void check_fanout(std::span<const int> fanout, int layers, const std::string& field);

/// The parameters of a step's draw for one gathering layer.
struct HopDraw {
  Draws draws;                               // for (seed, Purpose::kNeighbour, step, layer)
  int fanout = kAllNeighbours;               // neighbours per vertex
  bool replace = false;                      // one neighbour may be drawn several times
  const NeighbourDraws* by_owner = nullptr;  // how owners draw neighbours of own rows; null: all alike
  const KeptArcs* kept = nullptr;            // the layer reads these arcs and draws nothing; null: it draws

  bool weighs() const { return kept != nullptr && kept->weighs(); }
};

/// A row's arcs before anything is drawn.
struct NeighbourCounts {
  std::uint32_t loops = 0;   // kept in any case
  std::uint32_t others = 0;  // drawn from
  double degree = 0;         // of the row (degree_of())

  /// The number of neighbours to draw. Without replacement these are all, if there are no more than the
  /// fanout.
  Index drawn(const HopDraw& hop) const {
    if (hop.fanout == kAllNeighbours) return others;
    if (hop.replace) return others == 0 ? 0 : hop.fanout;
    return std::min<Index>(others, hop.fanout);
  }
  Index arcs(const HopDraw& hop) const { return loops + drawn(hop); }
  bool whole(const HopDraw& hop) const {
    return hop.fanout == kAllNeighbours || (!hop.replace && others <= std::uint32_t(hop.fanout));
  }
  /// How many neighbours each drawn one stands for (its Horvitz-Thompson weight).
  float stands_for(const HopDraw& hop) const {
    return whole(hop) || others == 0 ? 1.f : float(double(others) / hop.fanout);
  }
};

/// The graph to draw from; views.
struct DrawnGraph {
  CsrView whole;                  // in prepared order, for layers that read all neighbours
  GraphById by_id;                // for layers that draw; has no columns if no layer draws
  std::span<const VertexId> ids;  // (vertices) the data set's ids

  double degree(VertexId row) const;
};

/// One per sampling thread, which also owns `pool`.
class RowDraws {
 public:
  RowDraws(const DrawnGraph& graph, ThreadPool& pool);

  const DrawnGraph& graph() const { return graph_; }
  /// If the layer reads all neighbours, loops count as neighbours.
  void count_neighbours(const HopDraw& hop, std::span<const VertexId> rows,
                        std::span<NeighbourCounts> neighbours);
  /// Writes the neighbours[i].arcs(hop) arcs of row i at offsets[i] … offsets[i + 1] − 1. Columns are
  /// prepared rows. Unless `weights` is empty, it gets the arcs' own weights.
  void arcs(const HopDraw& hop, std::span<const VertexId> rows, std::span<const NeighbourCounts> neighbours,
            std::span<const Index> offsets, std::span<VertexId> columns, std::span<float> weights);
  /// As Structure::describe().
  void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                std::optional<std::span<double>> degrees);
  bool weighted() const { return graph_.whole.weights != nullptr; }

 private:
  /// Some rows, and where to write their arcs.
  struct Group {
    const VertexId* rows;
    const NeighbourCounts* neighbours;
    const Index* offsets;
    Index count;
    VertexId* columns;  // of all rows …
    float* weights;     // … or null
  };
  void draw_group(const HopDraw& hop, const Group& group, NeighbourDraws::Scratch& scratch) const;
  void count_kept(const HopDraw& hop, std::span<const VertexId> rows,
                  std::span<NeighbourCounts> neighbours) const;
  void keep_group(const HopDraw& hop, const Group& group) const;
  double degree(const HopDraw& hop, VertexId row) const;

  const DrawnGraph graph_;
  ThreadPool& pool_;
  std::vector<NeighbourDraws::Scratch> scratch_;  // by thread
};

/// The drawn neighbours of some rows.
struct DrawnArcs {
  Reusable<NeighbourCounts> neighbours;  // (rows)
  Reusable<Index> offsets;               // (rows + 1)
  Reusable<VertexId> columns;            // (arcs) prepared rows, self-loops of a row first
  // (arcs) an arc's own weight, times the number of arcs that it stands for by hop.kept; empty: all 1
  Reusable<float> weights;

  /// Fills offsets from neighbours and makes room for the arcs.
  void lay_out(const HopDraw& hop, bool weighted);
  Index reallocations() const;
};

/// One per sampling thread. Calls are collective: every rank makes each of them, in the same order, even
/// without rows.
class Structure {
 public:
  virtual ~Structure() = default;
  virtual bool weighted() const = 0;
  /// `rows`: prepared rows of any owner, each once.
  virtual void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) = 0;
  /// Fills `ids` (rows) with the data set's ids and `degrees` (rows) with degree_of() each row. Degrees count
  /// the whole graph's arcs, or only the kept ones if hop.kept induces degrees. Degrees are wanted by all
  /// ranks or by none.
  virtual void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                        std::optional<std::span<double>> degrees) = 0;
  /// How often its own memory had to grow.
  virtual Index reallocations() const = 0;
};

/// The whole graph or the induced one. `by_id`: some layer draws a limited number of neighbours, so `graph`
/// must have been prepared with GraphTransforms::by_id.
DrawnGraph drawn_graph(const PreparedGraph& graph, bool induced, bool by_id);

/// Every rank reads the prepared graph's mapped files. Nothing is sent. `pool` outlives it.
std::unique_ptr<Structure> mapped_structure(const DrawnGraph& graph, ThreadPool& pool);

/// A rank reads its own parts' rows of `graph` and asks other ranks for theirs: four exchanges per layer and
/// three per batch, each with one message to and from each owner (RowRoute). All arguments outlive it.
std::unique_ptr<Structure> partitioned_structure(const DrawnGraph& graph, const Owners& owners,
                                                 Communicator& comm, ThreadPool& pool,
                                                 const RowRoute& route = {});

}  // namespace atl
