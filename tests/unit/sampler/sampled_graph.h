// A prepared graph on disk to sample from, and batches in terms of the data set's vertices, so that they can
// be compared.
#pragma once

#include <map>
#include <memory>
#include <tuple>

#include "partition/sample_dataset.h"
#include "sampler/owners.h"
#include "sampler/sampler.h"
#include "sampler/seeds.h"

namespace atl {

struct SampledGraphOptions {
  RandomGraph graph{300, 6000, 1, false};
  PartitionOptions partition{"metis", 5};
  GraphTransforms transforms{true, GraphTransforms::SelfLoops::kAdd, false, true};
};

class SampledGraph {
 public:
  explicit SampledGraph(const SampledGraphOptions& options = {})
      : dataset(sample_dataset(folder_.path() / "sample", options.graph)),
        marks(training_marks(dataset)),
        prepared(PreparedGraph::make(dataset, options.partition, options.transforms, marks)) {}

  /// A rank's seeds of a step, as prepared rows.
  std::vector<VertexId> seeds(int ranks, Rank rank, std::int64_t step, Index batch_size) const {
    const Owners owners(prepared.part_offsets(), ranks);
    const auto trains = [&](VertexId id) { return marks[std::size_t(id)] != 0; };
    Seeds all(prepared.quality().training, training_rows(prepared, owners, rank, trains), batch_size, 1);
    std::vector<VertexId> rows;
    all.of_step(step, rows);
    return rows;
  }
  std::vector<VertexId> all_rows() const {
    std::vector<VertexId> rows(prepared.ids().size());
    for (std::size_t r = 0; r < rows.size(); ++r) rows[r] = VertexId(r);
    return rows;
  }
  std::unique_ptr<Structure> mapped(ThreadPool& pool) const {
    return mapped_structure(drawn_graph(prepared, false, true), pool);
  }

 private:
  TemporaryFolder folder_;

 public:
  Dataset dataset;
  std::vector<std::uint8_t> marks;
  PreparedGraph prepared;
};

/// One row's arcs in order: (source's id, weight).
using RowArcs = std::vector<std::pair<VertexId, float>>;
/// A layer of one batch, or of several ranks' batches: by destination's id.
using LayerArcs = std::map<VertexId, RowArcs>;

/// Adds a batch's layer. Returns false where a vertex is there already with other arcs.
inline bool collect(const Batch& batch, int layer, LayerArcs& all) {
  const Block block = batch.block(layer);
  bool same = true;
  for (Index d = 0; d < block.dst(); ++d) {
    RowArcs row;
    for (Index e = block.arcs.offsets[d]; e < block.arcs.offsets[d + 1]; ++e)
      row.emplace_back(block.src_ids[std::size_t(block.arcs.columns[e])],
                       block.arcs.weights == nullptr ? 1.f : block.arcs.weights[e]);
    const auto [place, is_new] = all.emplace(block.dst_ids[std::size_t(d)], row);
    same = same && place->second == row;
  }
  return same;
}

inline std::vector<LayerArcs> layers_of(const Batch& batch) {
  std::vector<LayerArcs> layers(std::size_t(batch.layers()));
  for (int layer = 0; layer < batch.layers(); ++layer) collect(batch, layer, layers[std::size_t(layer)]);
  return layers;
}

}  // namespace atl
