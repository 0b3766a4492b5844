// Makes a prepared graph in memory: transforms, partitions, renumbers, lists halos. Reads and writes no
// files.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "graph/csr.h"
#include "partition/partitioners.h"

namespace atl {

// How good a partition is: how much ranks exchange, and how evenly the work is divided.

/// Halo of a part: the distinct rows it reads and doesn't own. Boundary: its rows that some other part reads.
struct PartitionQuality {
  Index cut_arcs = 0;  // arcs whose ends are in different parts
  Index volume = 0;    // halo rows of all parts together = rows exchanged per layer
  std::vector<Index> owned, halo, boundary, arcs, training;             // each (parts)
  double balance_vertices = 1, balance_arcs = 1, balance_training = 1;  // largest part / mean

  /// Fills the balances from the vectors.
  void set_balances();
};

/// A few lines for a terminal: totals, then a row per part.
std::string to_text(const PartitionQuality& quality);

/// Changes of the arcs, applied before partitioning in the order of the fields.
struct GraphTransforms {
  bool symmetrise = false;  // add the reverse of every arc, drop duplicates
  enum class SelfLoops {
    kKeep,
    kAdd,
    kRemove
  } self_loops = SelfLoops::kKeep;  // kAdd: exactly one per vertex
  bool induced = false;  // also prepare the subgraph of training vertices (training.setting: inductive)
  bool by_id = false;    // also keep rows in the order of the data set's ids, for sampling
  bool rows = false;     // also keep the prepared row of each vertex, to look up pairs of vertices
};

/// A graph's rows once more. The order of columns doesn't depend on the prepared numbering: self-loops come
/// first, then the other columns by ascending vertex of the data set. So a draw by position means the same
/// arc in every partition.
struct RowsById {
  std::vector<VertexId> columns;  // (arcs) prepared rows; offsets are the graph's
  std::vector<float> weights;     // (arcs); empty if unweighted
  std::vector<double> degrees;    // (vertices) degree_of() each row; empty if unweighted
};

/// A graph in prepared numbering, with the rows that each part reads and doesn't own.
struct HaloGraph {
  Csr graph;                        // (vertices × vertices), columns ascending
  std::vector<Index> halo_offsets;  // (parts + 1)
  std::vector<VertexId> halo;       // prepared rows, ascending within each part
  std::optional<RowsById> by_id;    // where asked for
};

struct Prepared {
  std::vector<Index> part_offsets;   // (parts + 1)
  std::vector<Index> slice_offsets;  // (parts · slices + 1)
  std::vector<VertexId> ids;         // (vertices) original vertex of each prepared row
  HaloGraph whole, induced;          // induced: empty unless asked for
  PartitionQuality quality;          // of the whole graph
};

/// `is_symmetric` says that `graph` is known to have the reverse of each of its arcs. `training` (vertices)
/// marks training vertices, or is empty. Throws Error when there are more parts than vertices, or options
/// unknown to the partitioner.
Prepared prepare(const CsrView& graph, bool is_symmetric, const PartitionOptions& options,
                 const GraphTransforms& transforms, std::span<const std::uint8_t> training);

/// How prepare() numbers rows. `graph` is the graph after the transforms; self-loops make no difference.
struct RowOrder {
  std::vector<Index> part_offsets;     // (parts + 1)
  std::vector<Index> slice_offsets;    // (parts · slices + 1)
  std::vector<VertexId> ids;           // (vertices) original vertex of each prepared row
  std::vector<std::uint8_t> boundary;  // (vertices) by original vertex: whether another part reads it
};
RowOrder order_rows(const CsrView& graph, bool is_symmetric, const PartitionOptions& options,
                    std::span<const std::uint8_t> training);

/// Throws Error where the parts, or all their slices, outnumber the vertices.
void check_parts(const PartitionOptions& options, Index vertices);

/// An upper estimate of the memory in bytes that prepare() needs at its peak besides the graph that it is
/// given.
Index predicted_prepare_bytes(Index vertices, Index arcs, const PartitionOptions& options,
                              const GraphTransforms& transforms);

}  // namespace atl
