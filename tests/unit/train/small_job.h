// A small data set on disk and jobs over it, for tests that train on ranks as threads.
#pragma once

#include <gtest/gtest.h>
#include <algorithm>
#include <cmath>
#include <memory>
#include <mutex>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "comm/ranks.h"
#include "dataset/writer.h"
#include "job/load.h"
#include "partition/prepared_graph.h"
#include "strategies/schedule/strategy.h"
#include "temporary_folder.h"
#include "tensor/bfloat16.h"
#include "tensor/copies.h"
#include "train/evaluation.h"
#include "train/optimizer.h"
#include "train/rank_data.h"
#include "train/trainer.h"

namespace atl {

struct SmallData {
  Index vertices = 60;
  Index features = 6;
  int classes = 3;
  double arc_share = 0.06;  // of all pairs
  double density = 1.0;     // of the features; below 0.25 they are stored sparse
  double feature_scale = 1;
  bool one_valued = false;  // features are 0 or one value per row: 64 columns or more are stored as bits
  bool multi_label = false;
  bool weighted = false;
  bool symmetric = true;
  bool labelled = true;
  std::string_view class_names = {};  // a letter for each class, or none
  bool split = true;
  int splits = 3;        // that vertices take in turn; 1: all vertices train
  bool edges = false;    // an edge split is drawn: 70/15/15
  Index strangers = 0;   // further vertices, without arcs and labels, whose features are all nonzero
  bool rounded = false;  // features are bfloat16's values
};

/// Features that are stored as bits.
inline constexpr SmallData kBitData{.features = 70, .density = 0.4, .one_valued = true};

/// A job over a small data set; `fields` are set in addition to small_job's own.
struct SmallCase {
  std::string name;
  std::vector<std::string> fields;
  SmallData data = {};
};

inline std::ostream& operator<<(std::ostream& out, const SmallCase& c) {
  return out << c.name;
}

/// Random but the same every time. Vertex 0 has no arcs, and the last tenth of the vertices no label. A
/// vertex's data don't depend on which other data there are.
inline void write_small_data(const std::filesystem::path& place, const SmallData& d) {
  WriterOptions options;
  options.name = "small";
  options.weighted = d.weighted;
  options.symmetrise = d.symmetric;
  options.threads = 1;
  if (d.edges) options.edge_split = DrawnEdgeSplit{0.7, 0.15, 0.15, 3};
  DatasetWriter writer(place, options);
  const Index vertices = d.vertices + d.strangers;
  writer.set_vertices(vertices);
  const Draws draws(7, Purpose::kGenerator);
  std::vector<VertexId> src, dst;
  std::vector<float> weights;
  for (Index i = 1; i < d.vertices; ++i) {
    for (Index j = 1; j < (d.symmetric ? i : d.vertices); ++j) {
      if (i == j || draws.uniform_at(std::uint64_t(i), std::uint64_t(j)) >= d.arc_share) continue;
      src.push_back(VertexId(i));
      dst.push_back(VertexId(j));
      weights.push_back(float(0.5 + draws.uniform_at(std::uint64_t(i), std::uint64_t(j) + 1000)));
    }
  }
  writer.add_arcs(src, dst, d.weighted ? std::span<const float>(weights) : std::span<const float>{}, {});
  std::vector<float> x(std::size_t(vertices * d.features), 0.0F);
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (Index(i) >= d.vertices * d.features || draws.uniform_at(5000, i) < d.density)
      x[i] = float((2 * draws.uniform_at(6000, d.one_valued ? i / std::size_t(d.features) : i) - 1) *
                   d.feature_scale);
  }
  if (d.rounded)
    for (float& value : x) value = to_float(to_bfloat16(value));
  writer.begin_features(d.features);
  writer.add_features({x.data(), vertices, d.features}, {});
  std::vector<std::uint8_t> split(std::size_t(vertices), 0);
  for (std::size_t v = 0; v < std::size_t(d.vertices); ++v)
    split[v] = std::uint8_t(1 + v % std::size_t(d.splits));
  const auto labelled = std::size_t(d.vertices - d.vertices / 10);
  if (d.labelled && d.multi_label) {
    std::vector<std::uint8_t> targets(std::size_t(vertices * d.classes));
    for (std::size_t i = 0; i < targets.size(); ++i) targets[i] = draws.uniform_at(7000, i) < 0.4;
    writer.set_targets({targets.data(), vertices, d.classes}, {});
  } else if (d.labelled) {
    std::vector<std::int32_t> labels(std::size_t(vertices), -1);
    for (std::size_t v = 0; v < labelled; ++v)
      labels[v] = std::int32_t(draws.bits64_at(8000, v) % std::uint64_t(d.classes));
    for (std::size_t v = labelled; v < split.size(); ++v) split[v] = 0;
    std::vector<std::string> names;
    for (const char letter : d.class_names) names.emplace_back(1, letter);
    writer.set_labels(labels, d.classes, {}, names);
  }
  if (d.split) writer.add_split("default", {split.data(), vertices, 1}, "small");
  writer.finish();
}

/// A manifest over "small"; `fields` are overrides such as "model.kind=gat".
inline Job small_job(const std::vector<std::string>& fields) {
  const std::string text =
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: gcn, layers: 3, hidden: 8}\n  training: {epochs: 20}\n";
  return parse_job(text, "small.yaml", fields).job;
}

/// One rank's whole set-up: what Session builds, without files.
struct SmallRank {
  SmallRank(Communicator& comm, const Job& job_, const std::filesystem::path& dataset_folder, int threads,
            const std::vector<int>& parts = {}, Device device = Device::kCpu,
            DeviceStream& stream = host_stream())
      : job(job_),
        pool(threads),
        workspace(device),
        ctx{device, &pool, &workspace, &stream},
        dataset(Dataset::open(dataset_folder)),
        prepared(PreparedGraph::make(dataset, partition_options(job, comm.size()), graph_transforms(job),
                                     training_marks(dataset, job))),
        data(job, dataset, prepared, comm.rank(), PartRanks(parts)) {
    data.count(comm);
    trainer = std::make_unique<Trainer>(ctx, comm, job, data);
  }

  Job job;
  ThreadPool pool;
  Workspace workspace;
  Context ctx;
  Dataset dataset;
  PreparedGraph prepared;
  RankData data;
  std::unique_ptr<Trainer> trainer;
};

/// The session's side of one pass: keeps this rank's sum of the loss, and leaves the gradients unused.
class LossOnly final : public TrainingStep {
 public:
  LossOnly(Context& ctx, const Job& job, const RankData& data) : ctx_(ctx), job_(job), data_(data) {}
  void loss(ConstMatrixView logits, const LossRows&, MatrixView d_logits) override {
    value = 0;
    loss_of(ctx_, data_.training_labels(), job_.training.loss, logits, data_.training_rows(), 1, d_logits,
            &value);
  }
  void update() override {}
  double value = 0;

 private:
  Context& ctx_;
  const Job& job_;
  const RankData& data_;
};

/// A run's result: the loss of every epoch, the validation metric at the end, and the weights.
struct SmallResult {
  std::vector<double> losses;
  double validation = 0, validation_loss = 0;
  std::vector<Real> weights;
};

/// Collective.
inline SmallResult result_of(std::vector<double> losses, Trainer& trainer) {
  const Evaluation e = trainer.evaluate();
  const auto values = trainer.parameters().values();
  HostArray host(trainer.parameters().device(), values);
  return {std::move(losses),
          e.validation.value_or(-1),
          e.validation_loss.value_or(-1),
          {host.data(), host.data() + values.size()}};
}

/// Trains some epochs on one rank. Collective.
inline SmallResult train_rank(Communicator& comm, SmallRank& rank, int epochs) {
  std::vector<double> losses;
  for (Index epoch = 1; epoch <= epochs; ++epoch) {
    double loss = rank.trainer->train_epoch(epoch, rank.job.training.optimizer.learning_rate);
    comm.all_reduce(Traffic::kStatistics, std::span<double>(&loss, 1));
    losses.push_back(loss / rank.data.train.total);
  }
  return result_of(std::move(losses), *rank.trainer);
}

inline SmallResult train_small(const Job& job, const std::filesystem::path& dataset, int ranks, int epochs,
                               int threads = 1, const std::vector<int>& parts = {}) {
  SmallResult result;
  run_ranks(ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, dataset, threads, parts);
    const SmallResult mine = train_rank(comm, rank, epochs);
    if (comm.rank() == 0) result = mine;
  });
  return result;
}

// Finds ranks that a very small graph leaves without something, so that tests of such ranks can check that
// there are any.

/// Whether any rank has no vertices; whether, among the others, any has no halo, or no training vertices.
struct OddRanks {
  bool without_vertices = false, without_halo = false, without_training_vertices = false;
  bool of_each_kind() const { return without_vertices && without_halo && without_training_vertices; }
};

/// With parts by hash, nine vertices on four and on five ranks give all of these cases together.
inline const SmallData kNineVertices{.vertices = 9, .arc_share = 0.2};
inline const std::vector<int> kFourAndFive{4, 5};

/// The cases that occur when the job trains on each of these numbers of ranks.
inline OddRanks odd_ranks(const Job& job, const std::filesystem::path& dataset,
                          const std::vector<int>& numbers) {
  OddRanks odd;
  std::mutex lock;
  for (const int ranks : numbers) {
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, dataset, 1);
      const LocalGraph& graph = *rank.data.part().graph;
      std::lock_guard guard(lock);
      odd.without_vertices |= graph.owned == 0;
      odd.without_halo |= graph.owned > 0 && graph.halo == 0;
      odd.without_training_vertices |= graph.owned > 0 && rank.data.train.rows.empty();
    });
  }
  return odd;
}

// Two trainings that must be the same except for rounding: in float64, over all their epochs.

/// Compares relative to `one`; weights also relative to 1, so that weights near zero don't decide.
inline void expect_same_training(const SmallResult& one, const SmallResult& many, const std::string& what,
                                 double within = 1e-9) {
  ASSERT_EQ(one.losses.size(), many.losses.size());
  for (std::size_t e = 0; e < one.losses.size(); ++e)
    EXPECT_NEAR(one.losses[e], many.losses[e], within * std::abs(one.losses[e]))
        << what << ", epoch " << e + 1;
  EXPECT_NEAR(one.validation, many.validation, within) << what;
  EXPECT_NEAR(one.validation_loss, many.validation_loss, within * std::abs(one.validation_loss)) << what;
  ASSERT_EQ(one.weights.size(), many.weights.size());
  for (std::size_t i = 0; i < one.weights.size(); ++i)
    ASSERT_NEAR(one.weights[i], many.weights[i], within * std::max(1.0, std::abs(double(one.weights[i]))))
        << what;
}

// An optimiser's update on the CPU, for tests without a trainer.

inline void take_step(Context& ctx, Optimizer& optimizer, double learning_rate, StepState state = {}) {
  state.learning_rate = optimizer.rate(learning_rate);
  state.update = optimizer.steps() + 1;
  optimizer.step(ctx, &state);
  optimizer.count_step();
}

}  // namespace atl
