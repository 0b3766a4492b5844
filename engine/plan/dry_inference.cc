#include "plan/dry_inference.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "plan/memory.h"
#include "strategies/schedule/layer_runner.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {
double RankSlabs::others() const {
  return std::accumulate(of_owner.begin(), of_owner.end(), 0.0);
}

RankSlabs::Sizes RankSlabs::at(Index slab) const {
  if (slab >= count) return {};
  return looked_at[std::size_t(slab * Index(looked_at.size()) / count)];
}

SlabPlan::SlabPlan(const Dataset& dataset, const BatchSource& source, const Owners& owners,
                   const Model& model, SlabPlanOptions options)
    : source_(source),
      owners_(owners),
      model_(model),
      options_(std::move(options)),
      feature_messages_(dataset, source, options_.features, false),
      sent_(std::size_t(owners.ranks())) {
  slabs_.mapped = options_.mapped, slabs_.weighted = source.weighted();
  for (Rank rank = 0; rank < owners.ranks(); ++rank) {
    slabs_.by_rank.push_back(slabs_of(rank));
    slabs_.steps = std::max(slabs_.steps, slabs_.by_rank.back().count);
  }
  if (owners.ranks() > 1) count_sent();
}

RankSlabs SlabPlan::slabs_of(Rank rank) const {
  const std::span<const Index> offsets = source_.arc_offsets();
  const auto rows = Index(offsets.size()) - 1, first_row = owners_.first_row(rank);
  const Index width = options_.columns ? options_.columns->width(rank) : 0;
  const std::vector<Index> begins = slab_begins(model_, {rows, rows, offsets.data(), nullptr, nullptr},
                                                owners_, rank, options_.bytes, width, options_.layers);
  RankSlabs all;
  all.count = Index(begins.size()) - 1;
  all.of_owner.resize(std::size_t(owners_.ranks())), all.feature_bytes.resize(all.of_owner.size());
  const Index looked_at = std::min(all.count, source_.most_slabs());
  const double times = double(all.count) / double(std::max<Index>(looked_at, 1));
  std::vector<Index> read(std::size_t(rows), -1);  // the last slab that read each row
  std::vector<VertexId> buffer;
  for (Index i = 0; i < looked_at; ++i) {
    const Index slab = all.count * i / looked_at;
    const Index begin = first_row + begins[std::size_t(slab)];
    const Index end = first_row + begins[std::size_t(slab) + 1];
    Index sources = end - begin, others = 0, arcs = 0;
    double feature_bytes = 0;
    for (Index row = begin; row < end; ++row) {
      const auto read_by_row = source_.sources(row, buffer);
      arcs += Index(read_by_row.size());
      for (const VertexId from : read_by_row) {
        if (std::exchange(read[std::size_t(from)], slab) == slab) continue;
        sources += from < begin || from >= end;
        if (owners_.owns(rank, from)) continue;
        ++others;
        const auto owner = std::size_t(owners_.owner_of(from));
        all.of_owner[owner] += times, all.feature_bytes[owner] += times * feature_messages_.bytes(from);
        feature_bytes += feature_messages_.bytes(from);
      }
    }
    all.most_rows = std::max(all.most_rows, end - begin);
    all.most_others = std::max(all.most_others, others);
    all.most_feature_bytes = std::max(all.most_feature_bytes, feature_bytes);
    all.most_sources = std::max(all.most_sources, sources);
    all.rows += times * double(end - begin);
    all.sources += times * double(sources);
    all.arcs += times * double(arcs);
    all.looked_at.push_back({end - begin, sources});
  }
  return all;
}

void SlabPlan::count_sent() {
  const int in_place = first_in_place(model_, slab_layers(model_, options_.layers));
  for (const LayerRange& layers : slab_segments(model_, options_.layers)) {
    const Layer& first = *model_.layers[std::size_t(layers.first)];
    const Index width = layers.first > in_place ? first.spec().gathered_columns() : first.spec().in;
    const bool reads_columns = layers.first == 0 && options_.columns;
    for (Rank rank = 0; rank < owners_.ranks(); ++rank) {
      if (!options_.mapped) send_structure(rank, first.spec().gathers);
      if (reads_columns)
        options_.columns->send(rank, slabs_, sent_);
      else if (first.spec().gathers)
        send_rows(rank, width, layers.first == 0);
    }
  }
}

/// A rank knows the arcs of its own rows. It requests the ids of the rows that they read, and these rows'
/// degrees where both ends' degrees count.
void SlabPlan::send_structure(Rank rank, bool gathers) {
  const double answered = model_.needs.normalisation == Normalisation::kSymmetric ? 4 + 8 : 4;
  constexpr EvaluationPart kPart = EvaluationPart::kStructure;
  sent(rank, kPart) += double(owners_.ranks() - 1) * double(slabs_.steps) * kSizeBytes * (gathers ? 2 : 1);
  if (!gathers) return;
  sent(rank, kPart) += 4 * slabs_.of(rank).others();
  for (Rank owner = 0; owner < owners_.ranks(); ++owner)
    sent(owner, kPart) += answered * slabs_.of(rank).of_owner[std::size_t(owner)];
}

/// Adds the rows that a layer reads from other ranks: features for the first layer, else the previous layer's
/// outputs, which their owners keep.
void SlabPlan::send_rows(Rank rank, Index width, bool are_features) {
  constexpr EvaluationPart kPart = EvaluationPart::kRows;
  sent(rank, kPart) +=
      double(owners_.ranks() - 1) * double(slabs_.steps) * kSizeBytes + 4 * slabs_.of(rank).others();
  for (Rank owner = 0; owner < owners_.ranks(); ++owner)
    sent(owner, kPart) += are_features ? slabs_.of(rank).feature_bytes[std::size_t(owner)]
                                       : double(kReal * width) * slabs_.of(rank).of_owner[std::size_t(owner)];
}

EvaluationParts SlabPlan::parts(Rank rank) const {
  EvaluationParts parts{};
  for (std::size_t p = 0; p < parts.size(); ++p) parts[p] = std::int64_t(sent_[std::size_t(rank)][p] + 0.5);
  return parts;
}

void SlabPlan::add(Rank rank, DryRun& run) const {
  const RankSlabs& slabs = slabs_.of(rank);
  const Index reads = slabs.most_sources + 2 * slabs.most_others;
  Index widest[2] = {0, 0}, held = 0, number = 0;
  const LayerRange range = slab_layers(model_, options_.layers);
  const int in_place = first_in_place(model_, range);
  for (const LayerRange& layers : slab_segments(model_, options_.layers)) {
    const Layer& first = *model_.layers[std::size_t(layers.first)];
    const Index width = layers.first > in_place ? first.spec().gathered_columns() : first.spec().in;
    Index& out = widest[number++ % 2];
    if (layers.end <= in_place) out = std::max(out, model_.spec(layers.end - 1).out);
    std::vector<LayerRows> rows(std::size_t(layers.end - layers.first),
                                {slabs.most_rows, slabs.most_rows, slabs.most_rows, {slabs.most_rows}});
    if (first.spec().gathers) {
      rows.front() = {slabs.most_sources, slabs.most_rows, slabs.most_rows, {slabs.most_sources}};
      if (layers.first > 0) held = std::max(held, kReal * width * reads);
      if (layers.first == 0 && !options_.columns)
        held = std::max(
            held, feature_bytes(slabs.most_sources, options_.features) + Index(2 * slabs.most_feature_bytes));
    }
    if (layers.first >= in_place && first.spec().appends) continue;  // writes to the previous output
    PassMemory memory(Device::kDry, model_, layers, Passes::kInference);
    memory.shape(rows);
    memory.count(run.inference);
  }
  const Index last = options_.in_file ? 0 : model_.spec(range.end - 1).out;
  run.inference.activations += kReal * owners_.rows(rank) * (widest[0] + widest[1] + last);
  run.inference.halo = held;
  const EvaluationParts sent = parts(rank);
  run.evaluation[std::size_t(Traffic::kEvaluation)] =
      std::accumulate(sent.begin(), sent.end(), std::int64_t(0));
  if (options_.columns) options_.columns->hold(rank, slabs_, options_.features, run);
}

}  // namespace atl
