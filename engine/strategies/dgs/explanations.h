// Online explanations of what batches read from other ranks (DGS, Wan et al. 2022, algorithm 1). An
// explanation begins every T steps, from a snapshot of that step's weights. Its masks apply from T steps
// later on, for T steps: they decide how other ranks' vertices are drawn and which of their features are
// fetched. Results don't depend on how long an explanation takes, because the thread that makes batches waits
// for its end. Until the first masks apply, neighbours are drawn with equal probability, and all features are
// fetched.
#pragma once

#include <optional>

#include "sampler/batch_sampling.h"
#include "sampler/column_choice.h"
#include "sampler/feature_store.h"
#include "strategies/dgs/explainer_lane.h"
#include "strategies/dgs/figures.h"
#include "strategies/dgs/remote_draws.h"
#include "strategies/schedule/mini_batch.h"

namespace atl {

struct ExplanationOptions {
  std::int64_t every = 30;  // T: steps from one explanation to the next
  bool vertices = true;     // masks decide which vertices are read …
  bool features = true;     // … and which features; otherwise columns are drawn for each step
  double feature_rate = 0.85;
  double shift = 0.1;  // see RemoteDraws
  RemoteDraws::Split split = RemoteDraws::Split::kNeighbours;
  bool odds = false;  // a vertex is drawn in proportion to σ / (1 − σ) of its mask instead of to σ
  // the label is the prediction for the step's vertices, instead of the star's centre
  bool of_batch = true;
  bool training_alone = false;        // the centre stands for training vertices only
  FeatureStoreOptions features_as{};  // how rows are written while they travel
  ExplainerOptions explainer;
  std::uint64_t seed = 1;
};

/// Fills `chosen` with the columns that have the largest values, in ascending order of columns. Of equal
/// values, the first ones are chosen.
void largest_columns(std::span<const Real> values, std::span<VertexId> chosen,
                     std::vector<VertexId>& scratch);

/// One per rank, where there are several. References must outlive it.
class Explanations final : public BatchMasks, public BatchHooks {
 public:
  /// Fetches the features of other ranks' vertices that own vertices read. Collective.
  Explanations(Context& ctx, Communicator& comm, const Model& model, Parameters& parameters,
               const BatchGraph& graph, const ExplanationOptions& options);

  Chosen of(std::int64_t step) override;

  void prepare(BatchSamplingOptions& batches) override { batches.masks = this; }
  /// Called where the thread that makes batches may wait for an explanation that never begins.
  void close() override { lane_.close(); }
  void start(std::int64_t step) override;
  void after_forward(const BatchStep& at) override;
  /// The present masks, and the input of the explanation under way, so that a resumed run begins it again.
  std::vector<NamedMatrix> state() override;
  void count(ScheduleBytes& bytes) const override;
  /// ExplainedFigures of the masks that the last step used.
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
  const std::span<const VertexId> ids_;  // (vertices) as in the data set
  RemoteArcs arcs_;
  // For the thread that makes batches:
  std::vector<double> probabilities_;  // (others)
  RemoteDraws draws_;
  ColumnChoice columns_;
  std::vector<VertexId> chosen_, scratch_;
  std::int64_t taken_ = -1;  // the explanation of these masks
  std::int64_t first_ = 0;   // the first explanation that exists
  // For the training thread; the explainer reads them while an explanation is under way:
  Matrix header_;               // (1, 2): number of explanations begun, and whether the last but one is known
  Matrix weights_, predicted_;  // (1, parameters), (1, classes): input of the last one
  Matrix before_vertices_, before_features_;  // (1, others), (1, F): masks of the last but one
  std::vector<double> label_scores_;          // (classes) as the explainer reads them
  HostRows host_rows_;
  bool has_begun_ = false;  // an explanation has begun in this process
  std::optional<Explainer> explainer_;
  ExplainerLane lane_;
};

}  // namespace atl
