// A rank's batches in a plan: each goes through the four phases of its flight, on kernels that compute
// nothing.
#include "plan/memory.h"
#include "strategies/p3/batch_in_flight.h"
#include "strategies/p3/info.h"
#include "strategies/p3/plan.h"

namespace atl {
namespace {

class DryBatchesInFlight final : public DryColumns {
 public:
  explicit DryBatchesInFlight(const DryColumnsInput& in)
      : model_(in.model),
        share_(in.share),
        rank_(in.comm.rank()),
        together_(column_grid(in.job).together),
        features_(in.features),
        group_(group_options(in.model)),
        in_flight_(in.in_flight),
        predicts_(has_late_gradients(in.job)),
        flight_(in.ctx, in.comm, in.model, in.runner, in.share,
                {in.job.training.seed, in.passes, in.job.wire(), in.counts_rows}),
        sizes_(in.model.layers.size()) {}

  std::vector<std::int64_t> sizes_of(const Batch& batch) const override {
    std::vector<std::int64_t> sizes;
    PushedSizes::of(batch, group_.hops, sizes);
    return sizes;
  }

  double add_sent(const Batch& batch, BatchTraffic& sent, double times) const override {
    const std::vector<std::int64_t> sizes = sizes_of(batch);
    return sent.add_push({sizes, group_.hops}, group_, share_, times);
  }

  void train(StreamedBatch& made, std::int64_t step, const std::vector<const DrawnSizes*>& drawn,
             const WeightVersion& weights, DryStep& session) override {
    of_group_.clear();
    for (const DrawnSizes* each : drawn) {
      const auto& sizes = (*each)[std::size_t(step - 1)];
      of_group_.insert(of_group_.end(), sizes.begin(), sizes.end());
    }
    made.group.shape(group_, of_group_, share_.place);
    rows_.shape(made.group.all_rows(), made.group.first_destinations(), features_, made.features);
    flight_.begin(made, step);
    flight_.forward_columns(weights);
    flight_.forward_own(weights);
    session.loss(flight_.logits(), {}, flight_.d_logits());
    flight_.backward_own(weights, &session);
    flight_.backward_columns(weights, &session);
    session.update();
    whole_rows_ = made.group.whole_count(share_.place);
    note_sizes(made);
  }

  const std::vector<LayerSize>& sizes() const override { return sizes_; }
  Index whole_rows() const override { return whole_rows_; }
  int whole_layer() const override { return flight_.whole_layer_number(); }

  /// Between two steps the last of several batches is free: a checkpoint has the others' weights and, where
  /// the next weights are predicted, the last update's move.
  void count(Index trainable, ScheduleBytes& bytes, Index& state) const override {
    ScheduleBytes one;
    flight_.count(one);
    bytes.activations += in_flight_ * one.activations;
    bytes.saved += in_flight_ * one.saved;
    bytes.gradients += in_flight_ * one.gradients;
    bytes.halo += in_flight_ * one.halo;
    if (in_flight_ == 1) return;
    const Index moves = predicts_ ? trainable : 0;
    bytes.saved += (2 * in_flight_ * trainable + moves) * kReal;
    state += ((in_flight_ - 1) * trainable + moves + 2) * kReal;
  }

  /// Ranks that have the same columns are on one server, and cost its link nothing.
  double bytes_by_rows(const std::map<VertexId, Index>& reads, const Owners& owners,
                       const BatchTraffic& sent) const override {
    double bytes = 0;
    for (const auto& [row, count] : reads)
      if (owners.owner_of(row) / together_ != rank_ / together_) bytes += double(count) * sent.row_bytes(row);
    return bytes;
  }

 private:
  void note_sizes(const StreamedBatch& made) {
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

  const Model& model_;
  const ColumnShare& share_;
  const Rank rank_;
  const int together_;  // ranks of a holder
  const FeatureShape features_;
  const GroupBatchOptions group_;
  const int in_flight_;
  const bool predicts_;
  DryFeatures rows_;
  BatchInFlight flight_;
  std::vector<std::int64_t> of_group_;
  std::vector<LayerSize> sizes_;
  Index whole_rows_ = 0;
};

}  // namespace

std::unique_ptr<DryColumns> dry_batches_in_flight(const DryColumnsInput& in) {
  return std::make_unique<DryBatchesInFlight>(in);
}

}  // namespace atl
