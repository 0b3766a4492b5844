// What a plan draws mini-batches from: the prepared graph or, before there is one, the data set itself.
//
// From the data set, the plan divides vertices as the run's partitioner will if that partitioner needs no
// arcs (one part, hash, range). Draws are keyed by the data set's vertices, so the plan's batches are the
// run's own. METIS takes longer than the rest of a plan: where the run will use METIS, the plan divides by
// hash and predicts more bytes than the run will send. The plan doesn't reorder a large graph either, so
// slabs of exact inference, of at most 64 MiB, read more rows in the plan than in the run.
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
  /// Rows part by part, and the data set's vertex of each row, as in PreparedGraph.
  virtual std::span<const Index> part_offsets() const = 0;
  virtual std::span<const VertexId> ids() const = 0;
  /// (vertices + 1) where each row's arcs begin in the whole graph.
  virtual std::span<const Index> arc_offsets() const = 0;
  virtual bool weighted() const = 0;
  /// Rows that `row` reads, in the whole graph; valid until `buffer` changes.
  virtual std::span<const VertexId> sources(Index row, std::vector<VertexId>& buffer) const = 0;
  /// The graph that training draws from. `pool` outlives it.
  virtual std::unique_ptr<Structure> structure(ThreadPool& pool) const = 0;
  /// The most slabs of a rank that a plan counts. Their figures are scaled up to all slabs of the rank.
  virtual Index most_slabs() const = 0;
};

/// Both arguments outlive the source.
std::unique_ptr<BatchSource> batch_source(const Job& job, const PreparedGraph& prepared);
/// Numbers rows by part alone where the graph has more than `most_ordered` arcs.
std::unique_ptr<BatchSource> batch_source(const Job& job, const Dataset& dataset,
                                          Index most_ordered = 20'000'000);

/// Whether the plan divides the vertices by hash because the job's own parts aren't known before preparing.
bool assumes_parts(const Job& job);

}  // namespace atl
