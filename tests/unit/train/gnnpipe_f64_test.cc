// Strategy `gnnpipe` on any number of stages and ranks learns what one rank, or a plain loop, does (float64).
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "strategies/gnnpipe/pipeline.h"
#include "train/every_model.h"
#include "train/gnnpipe_oracles.h"

namespace atl {
namespace {

struct Learned {
  std::vector<double> losses;
  double validation = 0, validation_loss = 0;
  std::map<std::string, std::vector<Real>> weights;
};

void add_weights(const Parameters& parameters, std::map<std::string, std::vector<Real>>& all) {
  const auto values = const_cast<Parameters&>(parameters).values();
  for (const Parameters::Entry& e : parameters.entries()) {
    const auto held = values.subspan(std::size_t(e.offset), std::size_t(e.count));
    if (e.count > 0) all[e.spec.name].assign(held.begin(), held.end());
  }
}

/// Vertices are in the same chunk whatever the number of parts.
Job pipeline_job(const std::vector<std::string>& fields, int ranks, const std::string& options) {
  std::vector<std::string> all = fields;
  all.insert(all.end(), {"strategy.kind=gnnpipe", "strategy.gnnpipe=" + options,
                         "placement.ranks=" + std::to_string(ranks), "placement.partitioner=hash"});
  return small_job(all);
}

Learned learn(const Job& job, const std::filesystem::path& data, int epochs) {
  Learned learned;
  std::mutex lock;
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    const SmallResult mine = train_rank(comm, rank, epochs);
    const std::lock_guard guard(lock);
    add_weights(rank.trainer->parameters(), learned.weights);
    if (comm.rank() > 0) return;
    learned.losses = mine.losses;
    learned.validation = mine.validation, learned.validation_loss = mine.validation_loss;
  });
  return learned;
}

void expect_same(const Learned& one, const Learned& other, const std::string& what, double within = 1e-9) {
  ASSERT_EQ(one.losses.size(), other.losses.size());
  for (std::size_t e = 0; e < one.losses.size(); ++e)
    EXPECT_NEAR(other.losses[e] / one.losses[e], 1, within) << what << ", epoch " << e + 1;
  EXPECT_NEAR(one.validation, other.validation, within) << what;
  EXPECT_NEAR(one.validation_loss, other.validation_loss, within * std::abs(one.validation_loss)) << what;
  ASSERT_EQ(one.weights.size(), other.weights.size()) << what;
  for (const auto& [name, values] : one.weights) {
    ASSERT_TRUE(other.weights.contains(name)) << what << ", " << name;
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(other.weights.at(name)[i], values[i], within) << what << ", " << name << " " << i;
  }
}

class Pipelines : public testing::TestWithParam<SmallCase> {};

TEST_P(Pipelines, AnyStagesAndRanksLearnWhatOneRankLearns) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const auto run = [&](int ranks, int stages) {
    const std::string options = "{stages: " + std::to_string(stages) + ", chunks: 4, historyRefresh: 2}";
    return learn(pipeline_job(GetParam().fields, ranks, options), folder / "small", 5);
  };
  const Learned one = run(1, 1);
  ASSERT_NE(one.losses.front(), one.losses.back());
  const int layers = most_stages(small_job(GetParam().fields));
  for (const auto& [ranks, stages] : {std::pair{2, 2}, {2, 1}, {3, 3}, {3, 1}, {4, 2}, {6, 3}})
    if (stages <= layers)
      expect_same(one, run(ranks, stages),
                  std::to_string(stages) + " stages on " + std::to_string(ranks) + " ranks");
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model();
  for (const SmallCase& each : every_model_on_other_data()) all.push_back(each);
  all.push_back({"gcn_inductive", {"training.setting=inductive"}});
  all.push_back({"gat_inductive", {"model.kind=gat", "training.setting=inductive"}});
  all.push_back({"gcnii_recompute", {"model.kind=gcnii", "model.layers=4", "training.recompute=layer"}});
  all.push_back({"resgcn_recompute", {"model.kind=resgcn", "model.norm=batch", "training.recompute=layer"}});
  all.push_back({"gcn_multi_label",
                 {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                 {.multi_label = true}});
  all.push_back({"gcn_clipped", {"training.optimizer={clipNorm: 0.01}", "model.skipConnections=true"}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, Pipelines, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

struct Variant {
  const char* name;
  const char* options;
};

class PipelineVariants : public testing::TestWithParam<Variant> {};

TEST_P(PipelineVariants, StagesAndRanksLearnWhatOneRankLearns) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const auto run = [&](int ranks, int stages) {
    const std::string options =
        "{stages: " + std::to_string(stages) + ", chunks: 5, " + GetParam().options + "}";
    return learn(pipeline_job({"model.kind=gcnii", "model.layers=4"}, ranks, options), folder / "small", 6);
  };
  const Learned one = run(1, 1);
  expect_same(one, run(2, 2), "2 stages");
  expect_same(one, run(4, 2), "2 stages of 2 ranks");
}

INSTANTIATE_TEST_SUITE_P(
    All, PipelineVariants,
    testing::Values(Variant{"in_order", "shuffle: false"}, Variant{"fresh_history", "historyRefresh: 1"},
                    Variant{"zeros_until_refresh", "historyRefresh: 3, refreshAfterFirstEpoch: false"},
                    Variant{"late_gradients", "historicalGradients: true, historyRefresh: 1"},
                    Variant{"scaled", "scaleHistoricalGradient: true"}),
    [](const auto& each) { return each.param.name; });

TEST(Pipeline, StagesOfGivenLayersLearnWhatOneRankLearns) {
  for (const char* kind : {"gcn", "gcnii", "gin"}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {});
    const auto run = [&](int ranks, const std::string& stages) {
      return learn(pipeline_job({std::string("model.kind=") + kind, "model.layers=4"}, ranks,
                                "{chunks: 4, historyRefresh: 2, " + stages + "}"),
                   folder / "small", 4);
    };
    const Learned one = run(1, "stages: 1");
    for (const char* layers : {"layers: [1, 3]", "layers: [3, 1]"})
      expect_same(one, run(2, layers), std::string(kind) + " " + layers);
    expect_same(one, run(6, "layers: [1, 1, 2]"), std::string(kind) + " on 6 ranks");
  }
}

/// A run that goes on without other ranks' history begins with zeros, as epoch 1 does, and drops them soon.
TEST(Pipeline, TheFirstEpochThatFindsNoHistoryLeavesOne) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const bool refresh : {true, false})
    for (const std::int64_t first : {1, 9}) {
      const Job job = pipeline_job(
          {}, 1, fmt::format("{{chunks: 4, historyRefresh: 100, refreshAfterFirstEpoch: {}}}", refresh));
      run_ranks(1, [&](Communicator& alone) {
        SmallRank rank(alone, job, folder / "small", 1);
        std::vector<std::vector<Real>> kept;  // of the history, after each epoch
        for (std::int64_t epoch = first; epoch < first + 3; ++epoch) {
          rank.trainer->train_epoch(epoch, 0.01);
          const NamedMatrix history = rank.trainer->state().front();
          kept.emplace_back(history.values.data,
                            history.values.data + history.values.rows * history.values.cols);
        }
        EXPECT_EQ(std::ranges::any_of(kept[0], [](Real r) { return r != 0; }), refresh) << "epoch " << first;
        EXPECT_EQ(kept[0], kept[1]);
        EXPECT_EQ(kept[0], kept[2]);
      });
    }
}

/// Chunks of vertices without neighbours, features and labels: they read nothing, and are in no loss.
TEST(Pipeline, ChunksWithoutArcsAndTrainingVerticesLearnLikeOthers) {
  for (const char* kind : {"gcn", "gcnii", "gat"}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {.strangers = 60});
    const auto run = [&](int ranks, const std::string& partitioner) {
      const std::string stages = std::to_string(std::min(2, ranks));
      Job job = pipeline_job({std::string("model.kind=") + kind}, ranks,
                             "{chunks: 4, historyRefresh: 2, stages: " + stages + "}");
      job.placement.partitioner.kind = partitioner;
      return learn(job, folder / "small", 4);
    };
    const Learned one = run(1, "range");  // two chunks of the sort
    ASSERT_NE(one.losses.front(), one.losses.back());
    expect_same(one, run(2, "range"), kind);
    expect_same(run(1, "hash"), run(4, "hash"), std::string(kind) + " on 4 ranks");
    for (const double loss : run(4, "range").losses) EXPECT_TRUE(std::isfinite(loss)) << "a part of the sort";
  }
}

TEST(Pipeline, OneChunkOnOneStageIsGraph) {
  for (const SmallCase& each : every_model()) {
    TemporaryFolder folder;
    write_small_data(folder / "small", each.data);
    const Learned graph = learn(small_job(each.fields), folder / "small", 4);
    for (const int ranks : {1, 2})
      expect_same(graph,
                  learn(pipeline_job(each.fields, ranks, "{stages: 1, chunks: 1}"), folder / "small", 4),
                  each.name + " on " + std::to_string(ranks));
  }
}

/// One rank's plain loop: chunks forward in the epoch's order, backward in the reverse one, one step.
class PlainLoop {
 public:
  PlainLoop(SmallRank& rank, std::vector<Index> bounds)
      : rank_(rank),
        bounds_(std::move(bounds)),
        data_(rank.job, rank.dataset, rank.prepared, 0),
        model_(
            make_model(rank.job.model, rank.job.training,
                       {data_.training_part().features.cols(), data_.classes(), false, DropsOut::kMakers})),
        parameters_(model_.parameters(), rank.job.training.seed),
        pass_(rank.ctx, data_.training_part(), model_, bounds_, rank.job.training.seed),
        runner_(rank.ctx, model_, nullptr) {
    const LayerRange all{0, int(model_.layers.size())};
    for (int c = 0; c + 1 < int(bounds_.size()); ++c) {
      memories_.emplace_back(Device::kCpu, model_, all, Passes::kTraining);
      std::vector<LayerRows> rows;
      for (int l = 0; l < all.end; ++l) rows.push_back(pass_.rows(c, l));
      memories_.back().shape(rows);
    }
  }

  /// SGD at `rate`. Returns the mean loss.
  double train(int epoch, bool refresh, double total, Real rate) {
    std::vector<int> order(memories_.size());
    put_chunk_order(order, true, rank_.job.training.seed, epoch);
    pass_.begin_epoch(epoch, order, refresh);
    parameters_.zero_gradients(rank_.ctx);
    double loss = 0;
    for (const int c : order) {
      pass_.at_chunk(c);
      runner_.forward(pass_, parameters_.present(), memories_[std::size_t(c)], input(c));
    }
    for (auto c = order.rbegin(); c != order.rend(); ++c) {
      pass_.at_chunk(*c);
      PassMemory& memory = memories_[std::size_t(*c)];
      std::vector<VertexId> rows;
      for (const VertexId row : data_.training_rows())
        if (row >= bounds_[std::size_t(*c)] && row < bounds_[std::size_t(*c) + 1])
          rows.push_back(VertexId(row - bounds_[std::size_t(*c)]));
      cross_entropy(rank_.ctx, memory.output(memory.layers().end - 1),
                    data_.training_labels().classes + bounds_[std::size_t(*c)], rows, Real(1 / total),
                    memory.d_output(), &loss);
      runner_.backward(pass_, parameters_.present(), memory, input(*c), {}, nullptr);
    }
    const auto values = parameters_.trainable(), gradients = parameters_.gradients();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= rate * gradients[i];
    return loss / total;
  }
  const Parameters& parameters() const { return parameters_; }

 private:
  RangeInput input(int c) const {
    const Index begin = bounds_[std::size_t(c)], end = bounds_[std::size_t(c) + 1];
    return {Rows(data_.training_part().features.dense.slice_rows(begin, end - begin)), {}};
  }

  SmallRank& rank_;
  std::vector<Index> bounds_;
  RankData data_;
  Model model_;
  Parameters parameters_;
  ChunkedPass pass_;
  LayerRunner runner_;
  std::vector<PassMemory> memories_;
};

/// α = 2: epoch t reads the rows of epoch 2⌊(t − 1)/2⌋, and epoch 2 those of epoch 1.
TEST(Pipeline, LearnsWhatAPlainLoopOverChunksLearns) {
  constexpr Real kRate = Real(0.1);
  constexpr int kEpochs = 6;
  for (const SmallCase& each : every_model()) {
    const bool by_chunk = std::ranges::find(each.fields, "model.norm=batch") != each.fields.end();
    if (by_chunk || each.name == "sgc" || each.name == "sign") continue;  // their first layers see all rows
    TemporaryFolder folder;
    write_small_data(folder / "small", each.data);
    std::vector<std::string> fields = each.fields;
    fields.push_back(
        "training.optimizer={kind: sgd, learningRate: 0.1, momentum: 0, weightDecay: 0, clipNorm: 0}");
    const Job job = pipeline_job(fields, 1, "{chunks: 4, historyRefresh: 2}");
    const Learned learned = learn(job, folder / "small", kEpochs);
    run_ranks(1, [&](Communicator& alone) {
      SmallRank rank(alone, job, folder / "small", 1);
      PlainLoop loop(rank, rank.data.training_part().graph->slices);
      for (int epoch = 1; epoch <= kEpochs; ++epoch) {
        const bool refresh = epoch == 1 || epoch == 2 || (epoch - 1) % 2 == 0;
        const double loss = loop.train(epoch, refresh, rank.data.train.total, kRate);
        EXPECT_NEAR(loss / learned.losses[std::size_t(epoch) - 1], 1, 1e-9)
            << each.name << ", epoch " << epoch;
      }
      std::map<std::string, std::vector<Real>> weights;
      add_weights(loop.parameters(), weights);
      for (const auto& [name, values] : weights)
        for (std::size_t i = 0; i < values.size(); ++i)
          ASSERT_NEAR(learned.weights.at(name)[i], values[i], 1e-9) << each.name << ", " << name << " " << i;
    });
  }
}

}  // namespace
}  // namespace atl
