// What a plan draws mini-batches from: the prepared graph, or, where there is none yet, the data set itself.
//
// From the data set, vertices are divided among parts as the run's partitioner will where that needs no look
// at the arcs (one part, hash, range). Draws are keyed by the data set's vertices, so the batches are then
// the run's own. METIS takes longer than all else in a plan: where it will divide the graph, the plan divides
// by hash instead, and says more bytes than the run will send. Nor does a plan reorder a large graph: slabs
// of exact inference, of at most 64 MiB, then read more rows in the plan than in the run.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "job/job.h"
#include "partition/prepared_graph.h"
#include "sampler/structure.h"

namespace atl {

/// Read-only.
class BatchSource {
 public:
  virtual ~BatchSource() = default;
  /// As PreparedGraph's: rows part by part, and the data set's vertex of each.
  virtual std::span<const Index> part_offsets() const = 0;
  virtual std::span<const VertexId> ids() const = 0;
  /// Of the whole graph: (vertices + 1) where each row's arcs begin.
  virtual std::span<const Index> arc_offsets() const = 0;
  virtual bool weighted() const = 0;
  /// Rows that `row` reads, in the whole graph; valid until `buffer` changes.
  virtual std::span<const VertexId> sources(Index row, std::vector<VertexId>& buffer) const = 0;
  /// Of the graph that training draws from. `pool` outlives it.
  virtual std::unique_ptr<Structure> structure(ThreadPool& pool) const = 0;
  /// How many slabs of a rank are looked at: all, or so many, from which the others follow.
  virtual Index most_slabs() const = 0;
};

/// Both outlive it.
std::unique_ptr<BatchSource> batch_source(const Job& job, const PreparedGraph& prepared);
/// A graph of more arcs than most_ordered is large.
std::unique_ptr<BatchSource> batch_source(const Job& job, const Dataset& dataset,
                                          Index most_ordered = 20'000'000);

/// Whether parts are taken to be hash's because the job's own aren't known before it is prepared.
bool assumes_parts(const Job& job);

}  // namespace atl
