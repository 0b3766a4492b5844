#include "plan/dry_slabs.h"

#include <algorithm>
#include <utility>

#include "strategy/pass_memory.h"
#include "strategy/slab_inference.h"

namespace atl {
namespace {

constexpr Index kReal = sizeof(Real);

struct Slabs {
  Index most_rows = 0, most_sources = 0,
        most_others = 0;  // of any slab; sources: its rows and what they read
  Index others = 0;       // rows of other ranks, each slab by itself
};

Slabs slabs_of(const PreparedGraph& prepared, const Owners& owners, Rank rank, const Model& model,
               Index bytes) {
  const CsrView& graph = prepared.graph();
  const Index first_row = owners.first_row(rank);
  const std::vector<Index> begins = slab_begins(model, graph, owners, rank, bytes);
  std::vector<Index> read(std::size_t(graph.rows), -1);  // the last slab that did
  Slabs all;
  for (Index slab = 0; slab + 1 < Index(begins.size()); ++slab) {
    const Index begin = first_row + begins[std::size_t(slab)];
    const Index end = first_row + begins[std::size_t(slab) + 1];
    Index sources = end - begin;
    Index others = 0;
    for (Index e = graph.offsets[begin]; e < graph.offsets[end]; ++e) {
      const VertexId source = graph.columns[e];
      if (std::exchange(read[std::size_t(source)], slab) == slab) continue;
      sources += source < begin || source >= end;
      others += owners.owns(rank, source) ? 0 : 1;
    }
    all.most_rows = std::max(all.most_rows, end - begin);
    all.most_others = std::max(all.most_others, others);
    all.most_sources = std::max(all.most_sources, sources);
    all.others += others;
  }
  return all;
}

}  // namespace

void plan_slabs(const PreparedGraph& prepared, const Owners& owners, Rank rank, const Model& model,
                Index bytes, DryRun& run) {
  const Slabs slabs = slabs_of(prepared, owners, rank, model, bytes);
  Index widest[2] = {0, 0}, width = 0, gathered = 0, number = 0;
  for (const LayerRange& layers : slab_segments(model)) {
    const Layer& first = *model.layers[std::size_t(layers.first)];
    const bool is_last = layers.end == int(model.layers.size());
    Index& out = widest[number++ % 2];
    if (!is_last) out = std::max(out, model.layers[std::size_t(layers.end - 1)]->out());
    std::vector<LayerRows> rows(std::size_t(layers.end - layers.first),
                                {slabs.most_rows, slabs.most_rows, slabs.most_rows, {slabs.most_rows}});
    if (first.gathers()) {
      rows.front() = {slabs.most_sources, slabs.most_rows, slabs.most_rows, {slabs.most_sources}};
      width = std::max(width, first.in());
      gathered += first.in();
    }
    PassMemory memory(Device::kDry, model, layers, Passes::kInference);
    memory.shape(rows);
    memory.count(run.inference);
  }
  run.inference.activations +=
      kReal * owners.rows(rank) * (widest[0] + widest[1] + model.layers.back()->out());
  run.inference.halo = kReal * width * (slabs.most_sources + 2 * slabs.most_others);
  if (owners.ranks() > 1) run.evaluation[std::size_t(Traffic::kEvaluation)] = slabs.others * gathered * kReal;
}

}  // namespace atl
