// The ways to divide vertices among parts: METIS (Karypis & Kumar 1998, multilevel k-way), by hash, by range.
// A new one takes a file here and a line in partitioners.cc.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/csr.h"

namespace atl {

struct PartitionOptions {
  std::string kind = "metis";  // a name in partitioners.cc
  int parts = 1;
  std::uint64_t seed = 1;
  std::string objective = "volume";  // metis: volume | cut
  int groups = 1;  // groups of equally many parts; a partitioner by arcs divides the graph into them first
  int slices = 1;  // slices per part (below)
};

/// What a partitioner reads. It depends on the graph and the training vertices alone.
struct PartitionInput {
  CsrView pattern;                         // symmetric, unweighted, no loops, no duplicates
  std::span<const VertexId> degrees;       // (vertices) arcs in each vertex's row: its work
  std::span<const std::uint8_t> training;  // (vertices) 1 where it counts as a training vertex, or empty
};

/// Writes the part 0 … parts − 1 of each vertex to owner (vertices). The result depends on nothing but the
/// arguments.
using AssignParts = void (*)(const PartitionInput& input, const PartitionOptions& options,
                             std::span<std::int32_t> owner);

struct Partitioner {
  const char* name;
  const char* help;
  AssignParts assign;
  bool by_arcs = false;  // reads the pattern's arcs
};

std::span<const Partitioner> partitioners();
/// Throws Error, which names the known partitioners, if `name` isn't one of them.
const Partitioner& find_partitioner(const std::string& name);

void assign_by_metis(const PartitionInput& input, const PartitionOptions& options,
                     std::span<std::int32_t> owner);
void assign_by_hash(const PartitionInput& input, const PartitionOptions& options,
                    std::span<std::int32_t> owner);
void assign_by_range(const PartitionInput& input, const PartitionOptions& options,
                     std::span<std::int32_t> owner);

// Slices divide a part's vertices once more, so that a rank works on one slice after the other (the chunks of
// a pipeline, Chen et al. 2023, "GNNPipe", section 3.2). Slice k of all parts together is chunk k.

/// Returns (vertices) the cell of each vertex: its part · options.slices + its slice. A partitioner that
/// reads arcs divides the graph into parts and then each part into slices, so that few arcs leave a part. The
/// other partitioners divide the graph into all cells at once; by hash a vertex's chunk is then the same for
/// any number of parts.
std::vector<std::int32_t> assign_cells(const PartitionInput& input, const PartitionOptions& options);

}  // namespace atl
