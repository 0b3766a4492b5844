// The first layers of exact inference where features are held by columns (P3: Gandhi & Iyer 2021, section
// 3.2): as in training each rank computes them in its columns for all ranks of its group, and sends the
// summands to their rows' owners, slab by slab. No features travel.
#pragma once

#include <memory>
#include <vector>

#include "comm/communicator.h"
#include "model/model.h"
#include "sampler/column_share.h"
#include "strategies/p3/push_pull_pass.h"
#include "strategies/schedule/layerwise_inference.h"

namespace atl {

/// Whether a model's first layers can be computed so. Before the first product is whole they may read
/// neighbours once at most; SGC reads them more often. If other layers come before that product, it may not
/// be the last layer's, because the last layer's input is the embeddings.
inline bool infers_by_columns(const Model& model) {
  const SplitLayers split(model);
  return split.hops <= 1 && (split.whole == 0 || split.whole + 1 < int(model.layers.size()));
}

/// The layer whose product the group makes whole.
inline const Layer& whole_layer(const Model& model) {
  return *model.layers[std::size_t(SplitLayers(model).whole)];
}

/// SlabOptions::width, the columns that a slab holds per row: each rank holds the group's rows in its own
/// columns, and their products.
inline Index slab_width(const Model& model, const ColumnShare& share) {
  return std::max(share.whole, share.members() * whole_layer(model).spec().out);
}

/// The first layers of exact inference, where ranks hold features by columns. Each rank tells its group what
/// its slab reads (ColumnPush), unless every rank reads all arcs. After that, summands and scores travel. The
/// compute thread calls it, and messages are on Lane::kBulk as Traffic::kEvaluation. References outlive it.
class ColumnInference final : public FirstLayers {
 public:
  /// `model`: of the columns that the rank has. `options`: as LayerwiseInference's, whose slabs are the same.
  ColumnInference(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
                  const BatchGraph& graph, const SlabOptions& options);

  void infer(std::span<const Index> begins, MatrixView out) override;
  void count(ScheduleBytes& bytes) const override;

 private:
  /// A member's slab in the form in which its push would bring it. It is made here where every rank reads all
  /// arcs.
  struct Pushed {
    std::vector<Index> begins;  // where each of its slabs begins
    Reusable<std::byte> structure;
    Reusable<VertexId> ids;
  };
  std::span<const VertexId> seeds_of(Rank rank, Index begin, Index end);
  void read_group(std::size_t slab);

  Context& ctx_;
  Communicator& comm_;
  Parameters& parameters_;
  const BatchGraph& graph_;
  const HeldColumns& held_;
  const LayerRange layers_;
  const GroupBatchOptions group_options_;
  std::unique_ptr<Structure> structure_;
  Sampler sampler_;
  ColumnPush push_;
  std::vector<Pushed> members_;  // empty: each pushes its own
  LayerRunner runner_;
  PushPullPass pass_;
  PassMemory memory_;
  DeviceCopies copies_;
  std::vector<VertexId> seeds_;
  Batch own_, others_;
  GroupBatch group_;
  FeatureRows features_;
};

// All parameters on every rank, as exact inference reads them. Rows of weights that only the ranks with their
// columns hold are fetched from these.

class WholeWeights {
 public:
  /// `whole_model`: of all columns. References outlive it.
  WholeWeights(Communicator& comm, const Model& whole_model, const Parameters& held, const ColumnShare& share,
               std::uint64_t seed);

  /// Takes the present values of the held parameters. Collective over the group, as Traffic::kEvaluation.
  void refresh(Context& ctx);
  Parameters& parameters() { return whole_; }
  Index bytes() const;

 private:
  void fetch(Context& ctx, const Parameters::Entry& entry, Real* to);

  Communicator& comm_;
  const Parameters& held_;
  const ColumnShare& share_;
  Parameters whole_;
  Matrix arrived_;  // (1, elements) of one member's rows
  std::vector<Message> sends_, receives_;
};

}  // namespace atl
