// A rank's mini-batches where features are held by columns (DataShare::columns), trained on kernels that
// compute nothing. The rank draws its own batch. It knows the other batches of its group only by their
// numbers of rows and arcs.
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

/// For each drawn batch, the sizes that a rank tells its group (DryColumns::sizes_of).
using DrawnSizes = std::vector<std::vector<std::int64_t>>;

/// A batch's rows of features for kernels that compute nothing: sizes without contents.
class DryFeatures {
 public:
  /// Gives `out` the shape of `rows` rows of features, of which the first `destinations` are computed. Valid
  /// until the next call.
  void shape(Index rows, Index destinations, const FeatureShape& features, FeatureRows& out);

 private:
  SparseRows sparse(Index rows, const FeatureShape& features);
  std::vector<std::unique_ptr<Index[], ReleaseMemory>> offsets_;
};

/// The input of one rank. References outlive it.
struct DryColumnsInput {
  const Job& job;
  Context& ctx;
  Communicator& comm;
  const Model& model;
  const LayerRunner& runner;
  const ColumnShare& share;
  FeatureShape features;  // of the columns that this rank holds
  Passes passes;
  bool counts_rows = false;  // batches have SharedRows
  int in_flight = 1;         // batches that are trained at once
};

/// Made by the strategy (StrategyPlan::columns).
class DryColumns {
 public:
  virtual ~DryColumns() = default;
  /// The sizes of a drawn batch, which the rank tells its group.
  virtual std::vector<std::int64_t> sizes_of(const Batch& batch) const = 0;
  /// Adds the bytes that the batch sends to the ranks with the other columns; returns them.
  virtual double add_sent(const Batch& batch, BatchTraffic& sent, double times) const = 0;
  /// `made.batch` is the drawn batch of index `step` − 1. `drawn`: the sizes of all drawn batches, by member
  /// of the group.
  virtual void train(StreamedBatch& made, std::int64_t step, const std::vector<const DrawnSizes*>& drawn,
                     const WeightVersion& weights, DryStep& session) = 0;
  /// Sizes by layer of the batch that was trained last.
  virtual const std::vector<LayerSize>& sizes() const = 0;
  /// Rows of the rank's own batch whose product is summed over the columns.
  virtual Index whole_rows() const = 0;
  /// The layer whose product is summed over the columns. Layers before it are computed for the whole group.
  virtual int whole_layer() const = 0;
  /// Adds the memory of the trained batches to `bytes`, and the bytes of their checkpointed state to `state`.
  virtual void count(Index trainable, ScheduleBytes& bytes, Index& state) const = 0;
  /// Bytes that features would take if they were held by rows. `reads`: how many batches have read each row
  /// of other ranks.
  virtual double bytes_by_rows(const std::map<VertexId, Index>& reads, const Owners& owners,
                               const BatchTraffic& sent) const = 0;
};

inline void DryFeatures::shape(Index rows, Index destinations, const FeatureShape& features,
                               FeatureRows& out) {
  offsets_.clear();
  if (features.packed()) return out.refer(sparse(rows, features), sparse(destinations, features));
  out.shape_dense(rows, features.columns, features.storage, Device::kDry);
}

/// Sparse rows and their transpose: row offsets alone, with all entries in the last row.
inline SparseRows DryFeatures::sparse(Index rows, const FeatureShape& features) {
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

}  // namespace atl
