// A graph prepared for a number of ranks: transforms applied, vertices renumbered so that each part's rows are
// contiguous, boundary rows first, neighbours near each other. Made once, stored beside the data set, checked
// by checksum, memory-mapped by every rank: a rank touches its own rows only.
//
//   DATASET/prepared/<key>/   key: partitioner, parts, seed, objective, transforms, data set's checksum
//     meta.json               the key spelled out, part_offsets, quality, checksums
//     ids.npy                 int32 (vertices)      vertex of the data set at each prepared row
//     offsets.npy             int64 (vertices + 1), columns.npy int32 (arcs) in prepared numbering, weights.npy
//     halo.npy             int32, halo_offsets.npy int64 (parts + 1): rows each part reads and doesn't own, ascending;
//                          from these every rank knows what to send to whom without a message
//     induced_*.npy        the same graph and halo files for the subgraph of training vertices, where asked for
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "graph/csr.h"

namespace atl {

struct PartitionOptions {
  std::string kind = "metis";        // a name in partitioners.cc
  int parts = 1;
  std::uint64_t seed = 1;
  std::string objective = "volume";  // metis: volume | cut
};

/// Changes of the arcs, applied before partitioning.
struct GraphTransforms {
  bool symmetrise = false;           // add the reverse of every arc, drop duplicates
  enum class SelfLoops { kKeep, kAdd, kRemove } self_loops = SelfLoops::kKeep;  // kAdd: exactly one per vertex
  bool induced = false;              // also prepare the subgraph of training vertices (training.setting: inductive)
};

/// How good a partition is. Halo of a part: the distinct rows it reads and doesn't own.
struct PartitionQuality {
  Index cut_arcs = 0;                // arcs whose ends are in different parts
  Index volume = 0;                  // Σ over parts of its halo rows = rows exchanged a layer
  std::vector<Index> owned, halo, boundary, arcs, training;  // each (parts)
  double balance_vertices = 1, balance_arcs = 1, balance_training = 1;  // largest part / mean
};

/// Read-only, thread-safe, movable.
class PreparedGraph {
 public:
  /// Opens the prepared graph for these options, making it first where it doesn't exist (one process at a time:
  /// a lock file; written beside and renamed, so never half-written). `training` marks the vertices to balance, may be empty.
  static PreparedGraph make(const Dataset& dataset, const PartitionOptions& options, const GraphTransforms& transforms,
                            std::span<const std::uint8_t> training);
  /// Opens what make() left. Throws Error with the `atoll partition` command to run where it doesn't exist.
  static PreparedGraph open(const Dataset& dataset, const PartitionOptions& options, const GraphTransforms& transforms);
  PreparedGraph(PreparedGraph&&) noexcept;
  PreparedGraph& operator=(PreparedGraph&&) noexcept;
  ~PreparedGraph();

  int parts() const;
  std::span<const Index> part_offsets() const;   // (parts + 1): part p owns rows part_offsets[p] … part_offsets[p+1] − 1
  std::span<const VertexId> ids() const;         // (vertices) data set's vertex of each row; memory-mapped
  CsrView graph() const;                         // (vertices × vertices) in prepared numbering; memory-mapped
  std::span<const VertexId> halo(int part) const; // prepared rows that `part` reads and doesn't own, ascending
  CsrView induced_graph() const;                 // as graph(), arcs between training vertices only; rows all kept
  std::span<const VertexId> induced_halo(int part) const;
  const PartitionQuality& quality() const;
  const std::filesystem::path& folder() const;
  const std::string& checksum() const;

 private:
  struct State;
  explicit PreparedGraph(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace atl
