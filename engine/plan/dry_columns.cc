#include "plan/dry_columns.h"

namespace atl {

DryColumns::DryColumns(Context& ctx, Communicator& comm, const Model& model, const LayerRunner& runner,
                       const ColumnShare& share, const FlightOptions& options, int in_flight)
    : model_(model),
      share_(share),
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
  made.features.resize(made.group.all_rows(), share_.count(), Device::kDry);
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
