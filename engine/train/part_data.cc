#include "train/part_data.h"

#include <algorithm>

#include "base/error.h"
#include "job/models.h"
#include "job/samplers.h"
#include "job/strategies.h"
#include "job/strategies/batch_options.h"
#include "model/gather.h"
#include "model/model.h"

namespace atl {
namespace {

/// Whether the model first multiplies sums over neighbours, which are no sparser than dense rows.
bool multiplies_sums(const Job& job) {
  const ModelInfo* model = find_model(job.model.kind);
  return model != nullptr && model->aggregates_first;
}

/// With sparse rows, each value of every row that the first layer reads costs a load of a row of weights,
/// forward and backward. With dense rows there is one product for each row that it computes, after the sum
/// over neighbours. Both take equally long where there are as many values to load as features. Measured with
/// 50 values per row and 10 of 14 neighbours, for hidden 64 and 256. The time with dense rows, divided by
/// that with sparse ones, is 1.15 and 0.86 for 600 features, 1.6 and 1.5 for 1,200, and 2.7 and 2.5 for
/// 2,400.
FeatureForm batch_form(const Job& job, const DatasetMeta& meta) {
  const Options& options = job.strategy.options;
  const bool fills = feature_rate(job, meta.features) < 1 && options.text("fill") != "zero";
  if (meta.feature_form == FeatureForm::kDense || fills) return FeatureForm::kDense;
  const double degree = double(meta.arcs) / double(std::max<Index>(1, meta.vertices));
  const std::vector<int> fanout = batch_fanout(job);
  double reads = 1;
  if (!fanout.empty() && draws_by_vertex(job))
    reads += fanout.front() < 0 ? degree : std::min(degree, double(fanout.front()));
  const double values = double(meta.feature_nonzeros) / double(std::max<Index>(1, meta.vertices));
  return values * reads < double(meta.features) ? FeatureForm::kSparse : FeatureForm::kDense;
}

}  // namespace

Storage kept_storage(const Job& job, FeatureForm stored) {
  const bool by_rows = job.strategy.row->division(job).pieces == 0;
  const bool as_held = by_rows && stored == FeatureForm::kDense;
  if (strategy_of(job).holds == Holds::kBatches && !(as_held && reads_neighbours(job)))
    return Storage::kReals;
  return storage_of(job.training.precision);
}

FeatureForm held_form(const DatasetMeta& meta, FeatureForm read) {
  return meta.feature_form == FeatureForm::kDense ? read : meta.feature_form;
}

FeatureForm kept_form(const Job& job, const DatasetMeta& meta) {
  if (multiplies_sums(job)) return FeatureForm::kDense;
  if (strategy_of(job).holds == Holds::kBatches) return batch_form(job, meta);
  if (meta.feature_form != FeatureForm::kBits) return meta.feature_form;
  // A dense product has two operations per feature; bits save two thirds of them, forward and backward. An
  // arc costs a load from the cache or memory, forward and backward. On the measured machines an arc costs as
  // much as 16 features save.
  constexpr double kFeaturesPerArc = 16;
  const bool worth = double(meta.features) * double(meta.vertices) >= kFeaturesPerArc * double(meta.arcs);
  return worth && job.training.input_dropout.rate == 0 ? FeatureForm::kBits : FeatureForm::kDense;
}

FeatureShape feature_shape(const Job& job, const DatasetMeta& meta) {
  FeatureShape shape = feature_shape(meta, kept_form(job, meta));
  shape.held = held_form(meta, shape.form);
  shape.storage = kept_storage(job, meta.feature_form);
  return shape;
}

PartData::PartData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const DataShare& share, const VertexMarks& induced_on, FeatureForm form,
                   bool halo_features)
    : form_(form) {
  const GraphNeeds needs = graph_needs(job.model);
  const LocalizeOptions options{needs.normalisation, needs.attention, induced_on, share.ranks};
  graph_ = localize(prepared, rank, options);
  if (share.features) part_.features = own_.read(dataset, owned_ids(), job, form_);
  part_.graph = graph_.get();
  part_.ids = owned_ids();
  part_.own = graph_->own_block();
  if (const auto view = strategy_of(job).view; view != nullptr)
    view_ = view({job, prepared, rank, [this]() -> const LocalGraph& { return *graph_; }, options});
  part_.view = view_.get();
  const Replaces replaced = view_ ? view_->sizes()->replaces() : Replaces::kNothing;
  part_.boundary = replaced == Replaces::kNothing ? graph_->boundary : graph_->owned;
  if (halo_features && view_)
    for (const std::span<const VertexId> ids : view_->reads())
      part_.read_features.push_back(read_features_.emplace_back().read(dataset, ids, job, form_));
  if (replaced != Replaces::kNothing) {
    drop_replaced(replaced);
    return;
  }
  part_.outer = graph_->outer_block();
  if (!halo_features || !share.features) return;
  const std::span<const VertexId> ids(graph_->ids);
  part_.halo_features = halo_.read(dataset, ids.subspan(std::size_t(graph_->owned)), job, form_);
}

/// Copies of other servers' vertices count 0 where vertices are counted.
PartData::PartData(const Job& job, const Dataset& dataset, const PreparedGraph& prepared, Rank rank,
                   const ServerOptions& server, const PartData& whole, FeatureForm form, bool halo_features)
    : form_(form) {
  const GraphNeeds needs = graph_needs(job.model);
  const ServerGraph held = server_graph(prepared, server);
  RankShare share = rank_share(held, server, rank, needs.normalisation, needs.attention);
  graph_ = std::move(share.graph), near_ = std::move(share.near);
  row_weights_.assign(std::size_t(graph_->owned), 0);
  std::fill_n(row_weights_.begin(), graph_->counted, Real(1));
  part_.graph = graph_.get();
  part_.ids = owned_ids();
  if (server.induced_on.empty())
    whole_ = &whole;
  else if (server.beyond > 0)
    beyond_ = localize(prepared, rank, {needs.normalisation, needs.attention, server.induced_on});
  list_near(server.beyond);
  part_.boundary = part_.near.empty() ? graph_->boundary : graph_->owned;
  if (graph_->counted < graph_->owned) part_.row_weights = row_weights_;
  part_.features = own_.read(dataset, owned_ids(), job, form_);
  const std::span<const VertexId> ids(graph_->ids);
  if (halo_features && form_ != FeatureForm::kDense && near_.back().rows < graph_->owned)
    part_.computed_features = computed_.read(dataset, ids.first(std::size_t(near_.back().rows)), job, form_);
  if (halo_features)
    part_.halo_features = halo_.read(dataset, ids.subspan(std::size_t(graph_->owned)), job, form_);
}

/// Fills GraphPart::near, whose entry n is for a layer after which n layers gather. The first `beyond`
/// entries, for the last layers, are the part as it was divided; the server's copies serve the earlier
/// layers.
void PartData::list_near(int beyond) {
  if (beyond > 0) {
    const LocalGraph& divided = beyond_ ? *beyond_ : whole_->graph();
    part_.near.assign(std::size_t(beyond), {divided.owned, divided.owned, divided.halo, divided.own_block(),
                                            divided.outer_block(), divided.peers});
  }
  for (const NearBlock& each : near_)
    part_.near.push_back({each.rows, each.sources, each.is_whole ? graph_->halo : Index(each.halo.size()),
                          own_block(*graph_, each), outer_block(*graph_, each), each.peers});
}

/// Drops arcs that localize() cut out and the view replaces.
void PartData::drop_replaced(Replaces replaced) {
  graph_->outer = graph_->outer_transpose = Csr();
  graph_->outer_arc = {};
  if (replaced == Replaces::kOuter) return;
  part_.own = Block();
  graph_->own = graph_->own_transpose = Csr();
  graph_->own_arc = {};
}

void PartData::place(Context& ctx, bool stays) {
  if (memory_of(ctx.device).is_hosts) return;
  stays_ = stays;
  DeviceCopies& structure = structure_.emplace(ctx);
  DeviceCopies& features = placed_features_.emplace(ctx);
  part_.ids = structure.of(part_.ids);
  part_.row_weights = structure.of(part_.row_weights);
  part_.own = placed(ctx, part_.own);
  part_.outer = placed(ctx, part_.outer);
  part_.features = features.of(part_.features);
  part_.halo_features = features.of(part_.halo_features);
  part_.computed_features = features.of(part_.computed_features);
  for (Rows& each : part_.read_features) each = features.of(each);
  if (view_) view_->place(structure, [&](const Block& host) { return placed(ctx, host); });
  place_near(ctx);
}

Block PartData::placed(Context& ctx, const Block& host) {
  const Block block = on_device(*structure_, host);
  if (!stays_) return block;
  kept_.push_back(ctx.stream->keep_arcs(arcs_of(block)));
  kept_.push_back(ctx.stream->keep_arcs(transposed_arcs_of(block)));
  return block;
}

/// Layers beyond the server's copies share one block. If it is `whole_`'s, that has placed it already.
void PartData::place_near(Context& ctx) {
  const std::size_t beyond = part_.near.size() - near_.size();
  for (std::size_t i = 0; i < part_.near.size(); ++i) {
    NearRows& each = part_.near[i];
    const bool is_wholes = i < beyond && whole_ != nullptr, is_again = i > 0 && i < beyond;
    each.own = is_wholes ? whole_->part().own : is_again ? part_.near[0].own : placed(ctx, each.own);
    each.outer = is_wholes ? whole_->part().outer : is_again ? part_.near[0].outer : placed(ctx, each.outer);
  }
}

void PartData::release_features() {
  placed_features_.reset();
  own_.dense = Matrix();
  halo_.dense = Matrix();
  part_.features = part_.halo_features = Rows(ConstMatrixView());
  for (Features& each : read_features_) each.dense = Matrix();
  for (Rows& each : part_.read_features) each = Rows(ConstMatrixView());
}

}  // namespace atl
