// Who knows the arcs that sampling draws from: every rank all of them (mapped files), or each rank those of
// its own parts, which others ask it for. What is drawn is the same either way.
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

/// Neighbours that were drawn for some rows.
struct DrawnArcs {
  Reusable<RowHead> heads;     // (rows)
  Reusable<Index> offsets;     // (rows + 1)
  Reusable<VertexId> columns;  // (arcs) prepared rows, self-loops of a row first
  // (arcs) the arcs' own, times what they stand for where hop.kept says that; empty: all 1
  Reusable<float> weights;

  /// Fills offsets from heads, and makes room for the arcs.
  void lay_out(const HopDraw& hop, bool weighted);
  Index reallocations() const;
};

/// One per sampling thread. Calls are collective: every rank makes each of them, in the same order, with rows
/// or without.
class Structure {
 public:
  virtual ~Structure() = default;
  virtual bool weighted() const = 0;
  /// rows: prepared rows of any owner, each once.
  virtual void draw(const HopDraw& hop, std::span<const VertexId> rows, DrawnArcs& out) = 0;
  /// ids (rows): the data set's. degrees (rows): degree_of() each in the whole graph, or where hop.kept
  /// induces degrees of what is kept; wanted by all ranks or by none.
  virtual void describe(const HopDraw& hop, std::span<const VertexId> rows, std::span<VertexId> ids,
                        std::optional<std::span<double>> degrees) = 0;
  /// How often its own memory had to grow.
  virtual Index reallocations() const = 0;
};

/// Of the whole graph or of the induced one. by_id: some layer draws a number of neighbours, so that `graph`
/// must have been prepared with GraphTransforms::by_id.
DrawnGraph drawn_graph(const PreparedGraph& graph, bool induced, bool by_id);

/// Every rank reads the prepared graph's mapped files. Nothing is sent. `pool` outlives it.
std::unique_ptr<Structure> mapped_structure(const DrawnGraph& graph, ThreadPool& pool);

/// A rank reads its own parts' rows of `graph` and asks others for theirs: four exchanges a layer and three a
/// batch, with each owner one message each way (RowRoute). All arguments outlive it.
std::unique_ptr<Structure> partitioned_structure(const DrawnGraph& graph, const Owners& owners,
                                                 Communicator& comm, ThreadPool& pool,
                                                 const RowRoute& route = {});

}  // namespace atl
