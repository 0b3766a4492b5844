#include "plan/dry_columns.h"

namespace atl {

void DryFeatures::shape(Index rows, Index destinations, const FeatureShape& features, FeatureRows& out) {
  offsets_.clear();
  if (features.packed()) return out.refer(sparse(rows, features), sparse(destinations, features));
  out.dense.resize(rows, features.columns, Device::kDry);
}

/// Both ways.
SparseRows DryFeatures::sparse(Index rows, const FeatureShape& features) {
  const auto entries = Index(double(rows) * features.nonzeros_per_row);
  const auto csr = [&](Index of_rows, Index cols) -> CsrView {
    const Allocation claimed = memory_of(Device::kDry).allocate((std::size_t(of_rows) + 1) * sizeof(Index));
    auto* offsets = static_cast<Index*>(claimed.data);
    offsets_.emplace_back(offsets, ReleaseMemory{Device::kDry});
    offsets[of_rows] = of_rows == 0 ? 0 : entries;
    return {of_rows, cols, offsets, nullptr, nullptr};
  };
  return {csr(rows, features.columns), csr(features.columns, rows)};
}

DryColumns::DryColumns(Context& ctx, Communicator& comm, const Model& model, const LayerRunner& runner,
                       const ColumnShare& share, const FeatureShape& features, const FlightOptions& options,
                       int in_flight)
    : model_(model),
      share_(share),
      features_(features),
      group_(group_options(model)),
      in_flight_(in_flight),
      flight_(ctx, comm, model, runner, share, options),
      sizes_(model.layers.size()) {}

void DryColumns::train(StreamedBatch& made, std::int64_t step, const std::vector<const DrawnSizes*>& drawn,
                       const WeightVersion& weights, DryStep& session) {
  of_group_.clear();
  for (const DrawnSizes* each : drawn) {
    const auto& sizes = (*each)[std::size_t(step - 1)];
    of_group_.insert(of_group_.end(), sizes.begin(), sizes.end());
  }
  made.group.shape(group_, of_group_, share_.place);
  const Index rows = made.group.all_rows();
  rows_.shape(rows, made.group.first_destinations(), features_, made.features);
  flight_.begin(made, step);
  flight_.forward_columns(weights);
  flight_.forward_own(weights);
  session.loss(flight_.logits(), {}, flight_.d_logits());
  flight_.backward_own(weights, &session);
  flight_.backward_columns(weights, &session);
  session.update();

  whole_rows_ = made.group.whole_count(share_.place);
  int hop = 0;
  for (std::size_t l = 0; l < sizes_.size(); ++l) {
    const LayerRows& of = flight_.rows()[l];
    sizes_[l] = {double(of.destinations), double(of.inputs - of.destinations), 0};
    if (!model_.layers[l]->spec().gathers) continue;
    const bool by_columns = hop < group_.hops;
    sizes_[l].arcs =
        double(by_columns ? made.group.block(hop).arcs.arcs() : made.batch.block(hop).arcs.arcs());
    ++hop;
  }
}

/// Of several batches under way the last one is free between two steps: a checkpoint has the others' weights.
void DryColumns::count(Index trainable, ScheduleBytes& bytes, Index& state) const {
  ScheduleBytes one;
  flight_.count(one);
  bytes.activations += in_flight_ * one.activations;
  bytes.saved += in_flight_ * one.saved;
  bytes.gradients += in_flight_ * one.gradients;
  bytes.halo += in_flight_ * one.halo;
  if (in_flight_ == 1) return;
  constexpr Index kReal = sizeof(Real);
  bytes.saved += 2 * in_flight_ * trainable * kReal;
  state += ((in_flight_ - 1) * trainable + 2) * kReal;
}

}  // namespace atl
