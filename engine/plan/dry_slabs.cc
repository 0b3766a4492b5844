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
  double others = 0;      // rows of other ranks, each slab by itself
};

/// Evenly spaced ones stand for the others where there are more than the source lets us look at.
Slabs slabs_of(const BatchSource& source, const Owners& owners, Rank rank, const Model& model, Index bytes) {
  const std::span<const Index> offsets = source.arc_offsets();
  const auto rows = Index(offsets.size()) - 1, first_row = owners.first_row(rank);
  const std::vector<Index> begins =
      slab_begins(model, {rows, rows, offsets.data(), nullptr, nullptr}, owners, rank, bytes);
  const auto count = Index(begins.size()) - 1, looked_at = std::min(count, source.most_slabs());
  std::vector<Index> read(std::size_t(rows), -1);  // the last slab that did
  std::vector<VertexId> buffer;
  Slabs all;
  for (Index i = 0; i < looked_at; ++i) {
    const Index slab = count * i / looked_at;
    const Index begin = first_row + begins[std::size_t(slab)];
    const Index end = first_row + begins[std::size_t(slab) + 1];
    Index sources = end - begin;
    Index others = 0;
    for (Index row = begin; row < end; ++row) {
      for (const VertexId from : source.sources(row, buffer)) {
        if (std::exchange(read[std::size_t(from)], slab) == slab) continue;
        sources += from < begin || from >= end;
        others += owners.owns(rank, from) ? 0 : 1;
      }
    }
    all.most_rows = std::max(all.most_rows, end - begin);
    all.most_others = std::max(all.most_others, others);
    all.most_sources = std::max(all.most_sources, sources);
    all.others += double(others) * double(count) / double(looked_at);
  }
  return all;
}

}  // namespace

void plan_slabs(const BatchSource& source, const Owners& owners, Rank rank, const Model& model, Index bytes,
                DryRun& run) {
  const Slabs slabs = slabs_of(source, owners, rank, model, bytes);
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
  if (owners.ranks() > 1)
    run.evaluation[std::size_t(Traffic::kEvaluation)] = Index(slabs.others * double(gathered * kReal));
}

}  // namespace atl
