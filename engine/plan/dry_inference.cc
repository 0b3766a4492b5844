#include "plan/dry_inference.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "comm/all_reduce.h"
#include "plan/memory.h"
#include "strategies/p3/column_inference.h"
#include "strategies/schedule/layer_runner.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {
namespace {

constexpr Index kReal = sizeof(Real);
constexpr double kSizeBytes = 8;  // in which one rank tells another how many rows it wants

}  // namespace

double SlabPlan::Slabs::others() const {
  return std::accumulate(of_owner.begin(), of_owner.end(), 0.0);
}

SlabPlan::Slabs::Sizes SlabPlan::Slabs::at(Index slab) const {
  if (slab >= count) return {};
  return looked_at[std::size_t(slab * Index(looked_at.size()) / count)];
}

SlabPlan::SlabPlan(const Dataset& dataset, const BatchSource& source, const Owners& owners,
                   const Model& model, SlabPlanOptions options)
    : source_(source),
      owners_(owners),
      model_(model),
      options_(std::move(options)),
      crossing_(dataset, source, options_.features, false),
      sent_(std::size_t(owners.ranks())) {
  for (Rank rank = 0; rank < owners.ranks(); ++rank) {
    slabs_.push_back(slabs_of(rank));
    steps_ = std::max(steps_, slabs_.back().count);
  }
  if (owners.ranks() > 1) count_sent();
}

bool SlabPlan::by_columns() const {
  return !options_.columns.empty() && options_.columns.front() && infers_by_columns(model_);
}

SlabPlan::Slabs SlabPlan::slabs_of(Rank rank) const {
  const std::span<const Index> offsets = source_.arc_offsets();
  const auto rows = Index(offsets.size()) - 1, first_row = owners_.first_row(rank);
  const Index width = by_columns() ? slab_width(model_, *columns(rank)) : 0;
  const std::vector<Index> begins = slab_begins(model_, {rows, rows, offsets.data(), nullptr, nullptr},
                                                owners_, rank, options_.bytes, width, options_.layers);
  Slabs all;
  all.count = Index(begins.size()) - 1;
  all.of_owner.resize(std::size_t(owners_.ranks())), all.feature_bytes.resize(all.of_owner.size());
  const Index looked_at = std::min(all.count, source_.most_slabs());
  const double times = double(all.count) / double(std::max<Index>(looked_at, 1));
  std::vector<Index> read(std::size_t(rows), -1);  // the last slab that did
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
        all.of_owner[owner] += times, all.feature_bytes[owner] += times * crossing_.bytes(from);
        feature_bytes += crossing_.bytes(from);
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
  for (const LayerRange& layers : slab_segments(model_, options_.layers)) {
    const Layer& first = *model_.layers[std::size_t(layers.first)];
    const bool reads_columns = layers.first == 0 && !options_.columns.empty() && options_.columns.front();
    for (Rank rank = 0; rank < owners_.ranks(); ++rank) {
      if (!options_.mapped) send_structure(rank, first.spec().gathers);
      if (reads_columns)
        send_columns(rank);
      else if (first.spec().gathers)
        send_rows(rank, first.spec().in, layers.first == 0);
    }
  }
}

/// A rank knows its own rows' arcs, and asks for the ids of what they read, and where both ends' degrees count for those.
void SlabPlan::send_structure(Rank rank, bool gathers) {
  const double answered = model_.needs.normalisation == Normalisation::kSymmetric ? 4 + 8 : 4;
  constexpr EvaluationPart kPart = EvaluationPart::kStructure;
  sent(rank, kPart) += double(owners_.ranks() - 1) * double(steps_) * kSizeBytes * (gathers ? 2 : 1);
  if (!gathers) return;
  sent(rank, kPart) += 4 * of(rank).others();
  for (Rank owner = 0; owner < owners_.ranks(); ++owner)
    sent(owner, kPart) += answered * of(rank).of_owner[std::size_t(owner)];
}

/// What the layer before has left at their owners, or features.
void SlabPlan::send_rows(Rank rank, Index width, bool are_features) {
  constexpr EvaluationPart kPart = EvaluationPart::kRows;
  sent(rank, kPart) += double(owners_.ranks() - 1) * double(steps_) * kSizeBytes + 4 * of(rank).others();
  for (Rank owner = 0; owner < owners_.ranks(); ++owner)
    sent(owner, kPart) += are_features ? of(rank).feature_bytes[std::size_t(owner)]
                                       : double(kReal * width) * of(rank).of_owner[std::size_t(owner)];
}

void SlabPlan::send_columns(Rank rank) {
  const ColumnShare& share = *columns(rank);
  if (!share.is_split()) return;
  if (!by_columns()) return send_whole_rows(rank);
  if (!options_.mapped) send_pushes(rank);
  for (const Rank member : share.group)
    if (member != rank)
      sent(rank, EvaluationPart::kSummands) +=
          of(member).rows * double(whole_layer(model_).spec().out * kReal);
  send_scores(rank);
}

/// ColumnPush's.
void SlabPlan::send_pushes(Rank rank) {
  GroupBatchOptions pushed = group_options(model_);
  const Slabs& slabs = of(rank);
  const double read = pushed.hops > 0 ? slabs.sources : slabs.rows;
  double bytes = kSizeBytes * double(PushedSizes::length(pushed.hops)) * double(steps_) + 4 * read;
  if (pushed.hops > 0) bytes += 4 * slabs.rows + slabs.arcs * (source_.weighted() ? 8 : 4);
  if (pushed.scales_destinations()) bytes += double(kReal) * slabs.rows;
  if (pushed.scales_sources()) bytes += double(kReal) * read;
  sent(rank, EvaluationPart::kStructure) += bytes * double(columns(rank)->members() - 1);
}

/// Of attention's destinations and sources, summed over the group.
void SlabPlan::send_scores(Rank rank) {
  const ColumnShare& share = *columns(rank);
  const SoftmaxCost softmax = whole_layer(model_).spec().cost.softmax;
  if (softmax.heads == 0 || !softmax.has_scores) return;
  for (Index slab = 0; slab < steps_; ++slab) {
    Slabs::Sizes sum;
    for (const Rank member : share.group) {
      const Slabs::Sizes sizes = of(member).at(slab);
      sum.rows += sizes.rows, sum.sources += sizes.sources;
    }
    for (const Index rows : {sum.rows, sum.sources})
      sent(rank, EvaluationPart::kScores) +=
          double(all_reduce_bytes(share.members(), Rank(share.place), rows * softmax.heads, kReal));
  }
}

/// Features put together from their columns (ColumnRows), and the weights that the rank hasn't (WholeWeights).
void SlabPlan::send_whole_rows(Rank rank) {
  const ColumnShare& share = *columns(rank);
  const bool gathers = model_.layers.front()->spec().gathers;
  const auto rows = [&](Rank of_rank) { return gathers ? of(of_rank).sources : of(of_rank).rows; };
  double weights = 0;
  const auto specs = model_.parameters();  // by layer
  for (const ParameterSpec& spec : specs[std::size_t(model_.constant_prefix())])
    if (spec.input_blocks > 0) weights += double(spec.input_blocks * share.count() * spec.cols);
  for (const Rank member : share.group)
    if (member != rank)
      sent(rank, EvaluationPart::kRows) += kSizeBytes * double(steps_) + 4 * rows(rank) +
                                           double(kReal) * (rows(member) * double(share.count()) + weights);
}

/// Rows of the group in the columns that are here; or rows put together from all, and all weights.
void SlabPlan::hold_columns(Rank rank, DryRun& run) const {
  const ColumnShare& share = *columns(rank);
  const bool gathers = model_.layers.front()->spec().gathers;
  const Index rows = gathers ? of(rank).most_sources : of(rank).most_rows;
  if (by_columns()) {
    const Index members = share.members(), arcs = gathers ? members * (rows + of(rank).most_rows) : 0;
    FeatureShape here = options_.features;
    here.nonzeros_per_row *= double(share.count()) / double(share.whole), here.columns = share.count();
    run.inference.halo += feature_bytes(members * rows, here) + 16 * arcs + 8 * members * rows +
                          kReal * of(rank).most_rows * whole_layer(model_).spec().out * (2 * members - 1);
    return;
  }
  run.inference.halo += kReal * rows * 3 * share.whole;
  if (!share.is_split()) return;
  Index weights = 0, split = 0;
  const auto parameters = model_.parameters();
  for (const auto& layer : parameters)
    for (const ParameterSpec& spec : layer) weights += spec.rows * spec.cols;
  for (const ParameterSpec& spec : parameters[std::size_t(model_.constant_prefix())])
    if (spec.input_blocks > 0) split += spec.rows * spec.cols;
  run.inference.halo += kReal * (2 * weights + split);
}

EvaluationParts SlabPlan::parts(Rank rank) const {
  EvaluationParts parts{};
  for (std::size_t p = 0; p < parts.size(); ++p) parts[p] = std::int64_t(sent_[std::size_t(rank)][p] + 0.5);
  return parts;
}

void SlabPlan::add(Rank rank, DryRun& run) const {
  const Slabs& slabs = of(rank);
  const bool reads_columns = !options_.columns.empty() && options_.columns.front();
  const Index reads = slabs.most_sources + 2 * slabs.most_others;
  Index widest[2] = {0, 0}, held = 0, number = 0;
  const LayerRange range = slab_layers(model_, options_.layers);
  for (const LayerRange& layers : slab_segments(model_, options_.layers)) {
    const Layer& first = *model_.layers[std::size_t(layers.first)];
    const bool is_last = layers.end == range.end;
    Index& out = widest[number++ % 2];
    if (!is_last) out = std::max(out, model_.spec(layers.end - 1).out);
    std::vector<LayerRows> rows(std::size_t(layers.end - layers.first),
                                {slabs.most_rows, slabs.most_rows, slabs.most_rows, {slabs.most_rows}});
    if (first.spec().gathers) {
      rows.front() = {slabs.most_sources, slabs.most_rows, slabs.most_rows, {slabs.most_sources}};
      if (layers.first > 0) held = std::max(held, kReal * first.spec().in * reads);
      if (layers.first == 0 && !reads_columns)
        held = std::max(
            held, feature_bytes(slabs.most_sources, options_.features) + Index(2 * slabs.most_feature_bytes));
    }
    PassMemory memory(Device::kDry, model_, layers, Passes::kInference);
    memory.shape(rows);
    memory.count(run.inference);
  }
  run.inference.activations +=
      kReal * owners_.rows(rank) * (widest[0] + widest[1] + model_.spec(range.end - 1).out);
  run.inference.halo = held;
  const EvaluationParts sent = parts(rank);
  run.evaluation[std::size_t(Traffic::kEvaluation)] =
      std::accumulate(sent.begin(), sent.end(), std::int64_t(0));
  if (reads_columns) hold_columns(rank, run);
}

}  // namespace atl
