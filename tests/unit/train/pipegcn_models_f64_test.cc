// Strategy pipegcn for every model, with dropout and norms: it equals its recurrence on one rank, epoch by
// epoch, and strategy graph where nothing is stale.
#include <gtest/gtest.h>
#include <vector>

#include "strategies/schedule/full_batch.h"
#include "train/every_model.h"
#include "train/small_job.h"
#include "train/stale_parts.h"

namespace atl {
namespace {

// PipeGCN's recurrence for any model: one rank holds the whole graph, plays every part (stale_parts.h), and
// trains by the schedule of all full-batch strategies and the models' own layers. What tests hold strategy
// pipegcn against.

/// The session's side of an epoch on one rank: keeps the mean loss and takes the trainer's steps.
class OracleStep final : public TrainingStep {
 public:
  explicit OracleStep(SmallRank& rank) : rank_(rank) {}
  void loss(ConstMatrixView logits, const LossRows&, MatrixView d_logits) override {
    const RankData& data = rank_.data;
    const double total = data.train.total;
    double sum = 0;
    loss_of(rank_.ctx, data.training_labels(), rank_.job.training.loss, logits, data.training_rows(),
            Real(1 / total), d_logits, &sum);
    mean = sum / total;
  }
  void update() override {
    take_step(rank_.ctx, rank_.trainer->optimizer(), rank_.job.training.optimizer.learning_rate);
    rank_.trainer->parameters().zero_gradients(rank_.ctx);
  }
  double mean = 0;

 private:
  SmallRank& rank_;
};

/// The part of each of the data set's vertices where so many ranks train.
inline std::vector<int> part_of_vertices(const Job& job, const Dataset& dataset, int parts) {
  const PreparedGraph prepared = PreparedGraph::make(dataset, partition_options(job, parts),
                                                     graph_transforms(job), training_marks(dataset, job));
  std::vector<int> part(prepared.ids().size());
  for (int p = 0; p < parts; ++p)
    for (Index row = prepared.part_offsets()[std::size_t(p)];
         row < prepared.part_offsets()[std::size_t(p) + 1]; ++row)
      part[std::size_t(prepared.ids()[std::size_t(row)])] = p;
  return part;
}

/// train_small() of a job of strategy pipegcn with staleness 1, on one rank that plays `parts`.
inline SmallResult train_stale_oracle(const Job& job, const std::filesystem::path& dataset, int parts,
                                      int epochs) {
  SmallResult result;
  run_ranks(1, [&](Communicator& comm) {
    // Of its trainer all but the schedule, which may have released the features.
    SmallRank rank(comm, job, dataset, 1);
    const RankData fresh(job, rank.dataset, rank.prepared, 0);
    const GraphPart& whole = fresh.training_part();
    const std::vector<int> part = part_of_vertices(job, rank.dataset, parts);
    // A late row gets the mask of the epoch that reads it, so rows are handed on as they are.
    const Model model =
        make_model(job.model, job.training,
                   {whole.features.cols(), fresh.classes(), whole.features.packed(), DropsOut::kReaders});
    const bool recomputes = job.training.recompute == Recompute::kLayer;
    FullBatch schedule(rank.ctx, comm, model, rank.trainer->parameters(), whole,
                       rank.data.training_vertices(),
                       {job.training.seed, recomputes ? Passes::kRecomputing : Passes::kTraining},
                       [&](const std::vector<ExchangedLayer>& layers) {
                         return std::make_unique<StaleParts>(whole, part, job, layers);
                       });
    OracleStep step(rank);
    std::vector<double> losses;
    rank.trainer->parameters().zero_gradients(rank.ctx);
    for (Index epoch = 1; epoch <= epochs; ++epoch) {
      schedule.train(epoch, step);
      losses.push_back(step.mean);
    }
    result = result_of(losses, *rank.trainer);
  });
  return result;
}

constexpr int kEpochs = 8;

std::vector<SmallCase> cases() {
  const SmallData sparse{.density = 0.15}, weighted{.weighted = true}, directed{.symmetric = false};
  std::vector<SmallCase> all{
      {"gcn_batch_norm_recompute", {"model.norm=batch", "training.recompute=layer"}},
      {"gcn_skip_dense_weighted",
       {"model.norm=layer", "model.skipConnections=true", "model.denseLayers=1"},
       weighted},
      {"gcn_inductive_batch_norm", {"model.norm=batch", "training.setting=inductive"}},
      {"sage_layer_norm_directed", {"model.kind=sage", "model.norm=layer"}, directed},
      {"sage_sparse", {"model.kind=sage", "model.norm=batch"}, sparse},
      {"gat_batch_norm_recompute",
       {"model.kind=gat", "model.norm=batch", "model.options={heads: 2}", "training.recompute=layer"},
       weighted},
      {"gcnii_batch_norm", {"model.kind=gcnii", "model.layers=4", "model.norm=batch"}},
      {"resgcn_mean_layer_norm",
       {"model.kind=resgcn", "model.norm=layer", "model.options={aggregator: mean}"}},
      {"resgcn_softmax_batch_norm_recompute",
       {"model.kind=resgcn", "model.norm=batch", "model.options={aggregator: softmax}",
        "training.recompute=layer"}}};
  for (const SmallCase& each : every_model()) all.push_back(each);
  return all;
}

/// The recurrence doesn't clip, as gcnii does by default.
const char* const kStepsOfAnyLength = "training.optimizer.clipNorm=0";

class PipeGcnOfModels : public testing::TestWithParam<SmallCase> {
 protected:
  PipeGcnOfModels() { write_small_data(folder_ / "small", GetParam().data); }

  Job job(const std::string& options) const {
    std::vector<std::string> fields = GetParam().fields;
    fields.insert(fields.end(), {"strategy.kind=pipegcn", "strategy.pipegcn=" + options, kStepsOfAnyLength});
    return small_job(fields);
  }

  TemporaryFolder folder_;
};

TEST_P(PipeGcnOfModels, EqualTheirRecurrence) {
  struct Run {
    const char* options;
    int ranks;
    const char* partitioner;
  };
  for (const auto& [options, ranks, partitioner] :
       {Run{"{smoothing: none}", 3, "metis"}, Run{"{smoothing: features, decay: 0.7}", 3, "hash"},
        Run{"{smoothing: gradients, decay: 0.7}", 3, "range"},
        Run{"{smoothing: both, decay: 0.7, biasCorrection: false}", 3, "metis"},
        Run{"{smoothing: both, decay: 0.7}", 6, "metis"}}) {
    Job late = job(options);
    late.placement.partitioner.kind = partitioner;
    expect_same_training(train_stale_oracle(late, folder_ / "small", ranks, kEpochs),
                         train_small(late, folder_ / "small", ranks, kEpochs),
                         fmt::format("{}, {} ranks, {}", options, ranks, partitioner));
  }
}

TEST_P(PipeGcnOfModels, AreThoseOfStrategyGraphWhereNothingIsLate) {
  std::vector<std::string> fields = GetParam().fields;
  fields.push_back(kStepsOfAnyLength);
  SmallResult graph;
  for (const int ranks : {2, 3, 4}) {
    graph = train_small(small_job(fields), folder_ / "small", ranks, kEpochs);
    expect_same_training(graph, train_small(job("{staleness: 0}"), folder_ / "small", ranks, kEpochs),
                         fmt::format("staleness 0, {} ranks", ranks), 1e-10);
  }
  expect_same_training(graph, train_small(job("{}"), folder_ / "small", 1, kEpochs), "one rank");
  const SmallResult late = train_small(job("{}"), folder_ / "small", 3, kEpochs);
  if (find_model(small_job(fields).model.kind)->aggregates_first)
    return expect_same_training(graph, late, "no row is sent in an epoch");
  EXPECT_GT(std::abs(late.losses.back() - graph.losses.back()), 1e-6) << "a stale run differs";
}

INSTANTIATE_TEST_SUITE_P(Each, PipeGcnOfModels, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

TEST(PipeGcnSmall, OddRanksTakePart) {
  TemporaryFolder folder;
  write_small_data(folder / "small", kNineVertices);
  for (const std::string& model : every_kind()) {
    const Job job = small_job(
        {fmt::format("model.kind={}", model), kStepsOfAnyLength, "placement.partitioner={kind: hash}",
         "strategy.kind=pipegcn",
         fmt::format("training.inputDropout={{rate: 0.3, position: {}}}",
                     find_model(model)->aggregates_first ? "afterAggregation" : "beforeAggregation")});
    EXPECT_TRUE(odd_ranks(job, folder / "small", kFourAndFive).of_each_kind());
    for (const int ranks : kFourAndFive)
      expect_same_training(train_stale_oracle(job, folder / "small", ranks, kEpochs),
                           train_small(job, folder / "small", ranks, kEpochs), model);
  }
}

}  // namespace

}  // namespace atl
