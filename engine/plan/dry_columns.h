// A rank's mini-batches where features are held by columns (Strategy::columns), gone through on kernels that
// compute nothing: with its own batch, and of its group's others the numbers of rows and arcs alone.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "model/layer_work.h"
#include "plan/batch_traffic.h"
#include "plan/dry_step.h"
#include "sampler/batch_stream.h"
#include "strategies/schedule/layer_runner.h"
#include "strategies/schedule/strategy.h"

namespace atl {

/// For each batch that is drawn, the sizes that a rank tells its group (DryColumns::sizes_of).
using DrawnSizes = std::vector<std::vector<std::int64_t>>;

/// A batch's rows of features as kernels that compute nothing read them: sizes without contents.
class DryFeatures {
 public:
  /// Gives `out` the shape of `rows` rows of features, the first `destinations` of which are computed; valid
  /// until the next call.
  void shape(Index rows, Index destinations, const FeatureShape& features, FeatureRows& out);

 private:
  SparseRows sparse(Index rows, const FeatureShape& features);
  std::vector<std::unique_ptr<Index[], ReleaseMemory>> offsets_;
};

/// Of one rank. References outlive it.
struct DryColumnsInput {
  const Job& job;
  Context& ctx;
  Communicator& comm;
  const Model& model;
  const LayerRunner& runner;
  const ColumnShare& share;
  FeatureShape features;  // of the columns that are here
  Passes passes;
  bool counts_rows = false;  // batches have SharedRows
  int in_flight = 1;         // batches that are trained on at once
};

/// Made by the strategy (StrategyPlan::columns).
class DryColumns {
 public:
  virtual ~DryColumns() = default;
  /// What the rank tells its group of a batch that it has drawn, so that they know its shape.
  virtual std::vector<std::int64_t> sizes_of(const Batch& batch) const = 0;
  /// Adds what the rank sends of it to those that have the other columns; returns the bytes.
  virtual double add_sent(const Batch& batch, BatchTraffic& sent, double times) const = 0;
  /// made.batch was drawn, as `step` − 1 of those that are; `drawn` are the group's, by member.
  virtual void train(StreamedBatch& made, std::int64_t step, const std::vector<const DrawnSizes*>& drawn,
                     const WeightVersion& weights, DryStep& session) = 0;
  /// Of the batch that was trained last, by layer.
  virtual const std::vector<LayerSize>& sizes() const = 0;
  /// Rows of the rank's own batch that are made whole.
  virtual Index whole_rows() const = 0;
  /// The layer whose product is made whole: those before are computed for the whole group.
  virtual int whole_layer() const = 0;
  /// What the batches hold that were trained, and what a checkpoint gets of them.
  virtual void count(Index trainable, ScheduleBytes& bytes, Index& state) const = 0;
  /// What features would take were they held by rows: `reads` are others' rows, by how many batches have read
  /// them.
  virtual double bytes_by_rows(const std::map<VertexId, Index>& reads, const Owners& owners,
                               const BatchTraffic& sent) const = 0;
};

}  // namespace atl
