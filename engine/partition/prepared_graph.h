// A graph prepared for a number of ranks: transforms applied, vertices renumbered so that each part's rows
// are contiguous, boundary rows first, neighbours near each other. It is made once, stored in the data
// set's folder of such graphs (Dataset::prepared_folder) and checked by checksum. Every rank maps it into
// memory and touches only its own rows.
//
//   DATASET/prepared/<key>/   key: partitioner, parts, and a hash of all that it depends on
//         (prepared_files.h)
//     meta.json               the key spelled out, part_offsets, slice_offsets, quality, checksums
//     ids.npy                 int32 (vertices)      vertex of the data set at each prepared row
//     offsets.npy             int64 (vertices + 1)  arcs of each prepared row …
//     columns.npy             int32 (arcs)          … in prepared numbering, ascending in each row
//     weights.npy             float32 (arcs)        only where arcs are weighted
//     halo.npy                int32                 each part's halo rows, ascending …
//     halo_offsets.npy        int64 (parts + 1)     … they tell every rank which rows to send to whom
//     columns_by_id.npy       int32 (arcs)          the rows once more, self-loops first, then by ascending
//           vertex of the data set;
//     weights_by_id.npy       float32 (arcs)        both only where asked for (GraphTransforms::by_id), …
//     degrees.npy             float64 (vertices)    … and where arcs are weighted, each row's sum
//     rows.npy                int32 (vertices)      prepared row of each vertex of the data set, where asked
//           for
//     induced_*.npy           the same for the subgraph of training vertices, where asked for
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "dataset/dataset.h"
#include "partition/local_graph.h"
#include "partition/prepare.h"

namespace atl {

/// The rows that sampling draws from, in prepared numbering, with columns ordered as in RowsById.
struct GraphById {
  CsrView rows;
  // (vertices) degree_of() each row; empty: unweighted, so the degree is the number of arcs
  std::span<const double> degrees;
};

/// Read-only, thread-safe, movable.
class PreparedGraph {
 public:
  /// Opens the prepared graph for these options, and makes it first if it doesn't exist. One process makes it
  /// at a time (a lock file); it is written beside its place and renamed, so never half-written. `training`
  /// (vertices) marks the vertices to balance and to induce on; it may be empty. An existing graph is
  /// verified: a damaged one is an Error naming the file. `before_making` gets an upper bound of the memory
  /// in bytes that making needs.
  static PreparedGraph make(const Dataset& dataset, const PartitionOptions& options,
                            const GraphTransforms& transforms, const VertexMarks& training,
                            const std::function<void(Index bytes)>& before_making = {});
  /// Opens the graph that make() made with the same arguments, without verifying it (verify_share() does).
  /// Throws Error with the `atoll partition` command to run where it doesn't exist.
  static PreparedGraph open(const Dataset& dataset, const PartitionOptions& options,
                            const GraphTransforms& transforms, const VertexMarks& training);
  /// Whether open() would find a graph.
  static bool exists(const Dataset& dataset, const PartitionOptions& options,
                     const GraphTransforms& transforms, const VertexMarks& training);
  PreparedGraph(PreparedGraph&&) noexcept;
  PreparedGraph& operator=(PreparedGraph&&) noexcept;
  ~PreparedGraph();

  int parts() const;
  std::span<const Index> part_offsets() const;  // (parts + 1): part p owns rows part_offsets[p] … [p + 1] − 1
  int slices() const;                           // per part
  /// (parts · slices + 1): slice k of part p begins at row slice_offsets[p · slices + k] and ends where the
  /// next slice begins.
  std::span<const Index> slice_offsets() const;
  std::span<const VertexId> ids() const;   // (vertices) data set's vertex of each row
  std::span<const VertexId> rows() const;  // (vertices) row of each vertex; needs GraphTransforms::rows
  CsrView graph() const;                   // (vertices × vertices) in prepared numbering
  std::span<const VertexId> halo(int part) const;  // the part's halo: prepared rows, ascending
  CsrView induced_graph() const;  // as graph(), with all rows but only arcs between training vertices
  std::span<const VertexId> induced_halo(int part) const;
  /// Need GraphTransforms::by_id. The files are mapped on first use.
  GraphById graph_by_id() const;
  GraphById induced_graph_by_id() const;
  const PartitionQuality& quality() const;
  const std::filesystem::path& folder() const;
  /// As Dataset::forget().
  void forget() const;
  /// SHA-256 of meta.json, which holds the checksums of all files: equal on all ranks means equal graphs.
  const std::string& checksum() const;
  /// Compares the graph with `checksum`, which the caller has from another source, because others can write
  /// to the graph's folder. Each of `readers` verifies its share of the files; together they verify all.
  /// Throws Error where meta.json or one of the files differs.
  void verify_share(const std::string& checksum, int reader, int readers) const;

 private:
  struct State;
  explicit PreparedGraph(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace atl
