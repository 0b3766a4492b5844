// A rank's mini-batches where features are held by columns, gone through on kernels that compute nothing: with its own batch, and of its
// group's others the numbers of rows and arcs alone.
#pragma once

#include <memory>
#include <vector>

#include "model/layer_work.h"
#include "plan/dry_step.h"
#include "strategies/p3/flight.h"
#include "strategies/schedule/strategy.h"

namespace atl {

/// By batch that is drawn: what a rank pushes of it (PushedSizes).
using DrawnSizes = std::vector<std::vector<std::int64_t>>;

/// A batch's rows of features as kernels that compute nothing read them: sizes without contents.
class DryFeatures {
 public:
  /// Of so many rows, of which the first `destinations` are computed; valid until the next call.
  void shape(Index rows, Index destinations, const FeatureShape& features, FeatureRows& out);

 private:
  SparseRows sparse(Index rows, const FeatureShape& features);
  std::vector<std::unique_ptr<Index[], ReleaseMemory>> offsets_;
};

class DryColumns {
 public:
  /// `in_flight`: batches that are trained on at once, where more than one with weights and gradients of their own. References outlive it.
  /// features: of the columns that are here.
  DryColumns(Context& ctx, Communicator& comm, const Model& model, const LayerRunner& runner,
             const ColumnShare& share, const FeatureShape& features, const FlightOptions& options,
             int in_flight);

  /// made.batch was drawn, as `step` − 1 of those that are; `drawn` are the group's, by member.
  void train(StreamedBatch& made, std::int64_t step, const std::vector<const DrawnSizes*>& drawn,
             const WeightVersion& weights, DryStep& session);
  /// Of the batch that was trained last, by layer.
  const std::vector<LayerSize>& sizes() const { return sizes_; }
  /// Rows of the rank's own batch that are made whole.
  Index whole_rows() const { return whole_rows_; }

  /// What the batches hold that were trained, and what a checkpoint gets of them.
  void count(Index trainable, ScheduleBytes& bytes, Index& state) const;

 private:
  const Model& model_;
  const ColumnShare& share_;
  const FeatureShape features_;
  const GroupBatchOptions group_;
  const int in_flight_;
  DryFeatures rows_;
  Flight flight_;
  std::vector<std::int64_t> of_group_;
  std::vector<LayerSize> sizes_;
  Index whole_rows_ = 0;
};

}  // namespace atl
