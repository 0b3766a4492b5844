// The arcs that sampling draws from. Either every rank reads all arcs (mapped files), or each rank reads its
// own parts' arcs and others ask it for them. The draws are the same either way.
#pragma once

#include <memory>
#include <optional>
#include <span>

#include "base/reusable.h"
#include "comm/communicator.h"
#include "sampler/owners.h"
#include "sampler/row_draws.h"
#include "sampler/row_requests.h"

namespace atl {

/// The drawn neighbours of some rows.
struct DrawnArcs {
  Reusable<NeighbourCounts> neighbours;  // (rows)
  Reusable<Index> offsets;               // (rows + 1)
  Reusable<VertexId> columns;            // (arcs) prepared rows, self-loops of a row first
  // (arcs) the arcs' own, times what they stand for if hop.kept says so; empty: all 1
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
  /// Fills ids (rows), the data set's, and degrees (rows): degree_of() each row in the whole graph, or among
  /// the kept arcs if hop.kept induces degrees. Degrees are wanted by all ranks or by none.
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
