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
        most_others = 0;           // of any slab; sources: its rows and what they read
  double others = 0, sources = 0;  // rows of other ranks, and all, each slab by itself
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
    all.sources += double(sources) * double(count) / double(looked_at);
  }
  return all;
}

}  // namespace

namespace {

/// Of features by columns: those that a rank doesn't have come from the others, and first layers' weights likewise.
void plan_columns(const Slabs& slabs, const Model& model, const ColumnShare& share, const Owners& owners,
                  Rank rank, DryRun& run) {
  const bool gathers = model.layers.front()->gathers();
  const Index fetched = gathers ? slabs.most_sources : slabs.most_rows;
  const double rows = gathers ? slabs.sources : double(owners.rows(rank));
  run.inference.halo += kReal * fetched * 3 * share.whole;
  if (!share.is_split()) return;
  Index weights = 0, split = 0;
  const auto parameters = model.parameters();
  for (const auto& layer : parameters)
    for (const ParameterSpec& spec : layer) weights += spec.rows * spec.cols;
  for (const ParameterSpec& spec : parameters[std::size_t(model.constant_prefix())])
    if (spec.input_blocks > 0) split += spec.rows * spec.cols;
  run.inference.halo += kReal * (2 * weights + split);
  run.evaluation[std::size_t(Traffic::kEvaluation)] +=
      Index(rows * double(share.whole - share.count()) * kReal) + kReal * (split - split / share.members());
}

}  // namespace

void plan_slabs(const BatchSource& source, const Owners& owners, Rank rank, const Model& model,
                const SlabPlanOptions& options, DryRun& run) {
  const Slabs slabs = slabs_of(source, owners, rank, model, options.bytes);
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
      const bool by_columns = layers.first == 0 && options.columns;
      width = std::max(width, by_columns ? 0 : first.in());
      gathered += by_columns ? 0 : first.in();
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
  if (options.columns) plan_columns(slabs, model, *options.columns, owners, rank, run);
}

}  // namespace atl
