// What batches read of other ranks, explained online (DGS, Wan et al. 2022, algorithm 1). Every T steps an
// explanation begins, from a snapshot of the weights as that step reads them; from T steps later on its masks
// say how other ranks' vertices are drawn and which of their features are fetched, for T steps. So results
// don't depend on how long it takes: who makes batches waits for it where it isn't there. Until the first
// masks apply neighbours are drawn alike and all features are fetched.
#pragma once

#include <optional>

#include "sampler/batch_graph.h"
#include "sampler/column_choice.h"
#include "sampler/feature_store.h"
#include "strategies/dgs/explainer_lane.h"
#include "strategies/dgs/figures.h"
#include "strategies/schedule/mini_batch.h"

namespace atl {

struct ExplanationOptions {
  std::int64_t every = 30;  // steps from one explanation to the next: T
  bool vertices = true;     // which masks say what is read: of vertices …
  bool features = true;     // … and of features; otherwise columns are drawn for each step
  double feature_rate = 0.85;
  double shift = 0.1;  // RemoteDraws'
  RemoteDraws::Split split = RemoteDraws::Split::kNeighbours;
  bool odds = false;  // a vertex is drawn in proportion to σ / (1 − σ) of its mask instead of to σ
  // the label is what the step's vertices are predicted to be, instead of the star's centre
  bool of_batch = true;
  bool training_alone = false;        // the centre stands for training vertices alone
  FeatureStoreOptions features_as{};  // how rows cross
  ExplainerOptions explainer;
  std::uint64_t seed = 1;
};

/// One per rank, of several. References outlive it.
class Explanations final : public BatchMasks, public BatchHooks {
 public:
  /// Fetches the features of other ranks' vertices that own ones read. Collective.
  Explanations(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
               const BatchGraph& graph, const ExplanationOptions& options);

  Chosen of(std::int64_t step) override;

  void prepare(BatchSamplingOptions& batches) override { batches.masks = this; }
  /// Who makes batches may wait for an explanation that never begins.
  void close() override { lane_.close(); }
  void start(std::int64_t step) override;
  void after_forward(const BatchStep& at) override;
  /// The present masks, and what the explanation under way began with, so that it is begun anew.
  std::vector<NamedMatrix> state() override;
  void count(ScheduleBytes& bytes) const override;
  /// ExplainedFigures of the masks that the last step was made with.
  void report(FigureRequest& request) override;

 private:
  ExplainedFigures figures();
  void take(std::int64_t number);
  void resume(std::int64_t step);
  void pool(ConstMatrixView logits);
  std::int64_t number_at(std::int64_t step) const { return step / options_.every - 1; }
  std::int64_t begun() const { return std::int64_t(header_.at(0, 0)) - 1; }

  Context& ctx_;
  Communicator& comm_;
  Parameters& parameters_;
  const ExplanationOptions options_;
  const std::span<const VertexId> ids_;  // (vertices) the data set's
  RemoteArcs arcs_;
  // Of the thread that makes batches:
  std::vector<double> probabilities_;  // (others)
  RemoteDraws draws_;
  ColumnChoice columns_;
  std::vector<VertexId> chosen_, scratch_;
  std::int64_t taken_ = -1;  // explanation that these are of
  std::int64_t first_ = 0;   // the first that there is
  // Of the thread that trains, and while an explanation is under way the explainer's to read:
  Matrix header_;               // (1, 2): explanations begun, and whether the one before the last is known
  Matrix weights_, predicted_;  // (1, parameters), (1, classes): what the last one begins with
  Matrix before_vertices_, before_features_;  // (1, others), (1, F): the masks of the one before
  std::vector<double> label_scores_;          // (classes) as the explainer reads them
  HostRows host_rows_;
  bool has_begun_ = false;  // an explanation, in this process
  std::optional<Explainer> explainer_;
  ExplainerLane lane_;
};

}  // namespace atl
