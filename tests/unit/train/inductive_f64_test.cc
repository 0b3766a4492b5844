// Inductive training uses training vertices alone: no other vertex influences a loss or a weight, including
// batch norm's statistics. (In float64, because another surrounding graph may order the training vertices
// differently, which changes rounding.)
#include <gtest/gtest.h>

#include "train/every_model.h"

namespace atl {
namespace {

/// The small data set; with `changed`, other features, other arcs and no labels where a vertex isn't a
/// training one.
void write_data(const std::filesystem::path& place, bool changed) {
  constexpr Index kVertices = 60, kFeatures = 6;
  const Draws draws(11, Purpose::kGenerator);
  const auto trains = [](Index v) { return v % 3 == 0; };
  WriterOptions options;
  options.name = "small";
  options.symmetrise = true;
  options.threads = 1;
  DatasetWriter writer(place, options);
  writer.set_vertices(kVertices);
  std::vector<VertexId> src, dst;
  std::vector<float> x;
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> split;
  for (Index i = 0; i < kVertices; ++i) {
    const bool other = changed && !trains(i);
    for (Index j = 0; j < i; ++j) {
      const auto key = std::uint64_t(j) + (changed && !(trains(i) && trains(j)) ? 1000 : 0);
      if (draws.uniform_at(std::uint64_t(i), key) >= 0.15) continue;
      src.push_back(VertexId(i));
      dst.push_back(VertexId(j));
    }
    for (Index c = 0; c < kFeatures; ++c)
      x.push_back(float(draws.uniform_at(std::uint64_t(i), 5000 + std::uint64_t(c)) * (other ? -100 : 1)));
    labels.push_back(other ? -1 : std::int32_t(draws.bits64_at(std::uint64_t(i), 8000) % 3));
    split.push_back(trains(i) ? 1 : other ? 0 : std::uint8_t(1 + i % 3));
  }
  writer.add_arcs(src, dst, {}, {});
  writer.begin_features(kFeatures);
  writer.add_features({x.data(), kVertices, kFeatures}, {});
  writer.set_labels(labels, 3, {});
  writer.add_split("default", {split.data(), kVertices, 1}, "small");
  writer.finish();
}

/// The induced data set: vertex v becomes v / 3.
void keep_training_vertices(const Dataset& whole, const std::filesystem::path& place) {
  WriterOptions options;
  options.name = "small";
  options.threads = 1;
  DatasetWriter writer(place, options);
  const Index kept = whole.meta().vertices / 3;
  writer.set_vertices(kept);
  std::vector<VertexId> src, dst, ids;
  std::vector<std::int32_t> labels;
  for (Index row = 0; row < whole.meta().vertices; row += 3) {
    ids.push_back(VertexId(row));
    labels.push_back(whole.labels()[std::size_t(row)]);
    for (Index e = whole.graph().offsets[row]; e < whole.graph().offsets[row + 1]; ++e) {
      const VertexId column = whole.graph().columns[e];
      if (column % 3 != 0) continue;
      src.push_back(column / 3);  // a row of the graph lists the sources of its arcs
      dst.push_back(VertexId(row / 3));
    }
  }
  writer.add_arcs(src, dst, {}, {});
  Matrix features(kept, whole.meta().features);
  whole.read_features(ids, features);
  const std::vector<float> x(features.data(), features.data() + kept * features.cols());
  writer.begin_features(features.cols());
  writer.add_features({x.data(), kept, features.cols()}, {});
  writer.set_labels(labels, 3, {});
  const std::vector<std::uint8_t> split(std::size_t(kept), 1);
  writer.add_split("default", {split.data(), kept, 1}, "small");
  writer.finish();
}

void expect_near(std::span<const double> one, std::span<const double> two, const std::string& what) {
  ASSERT_EQ(one.size(), two.size());
  for (std::size_t i = 0; i < one.size(); ++i)
    ASSERT_NEAR(one[i], two[i], 1e-9 * std::max(1.0, std::abs(one[i]))) << what << ", place " << i;
}

/// Adam would make steps of the rounding where a gradient is zero (a bias before batch norm).
constexpr const char* kPlainSteps = "training.optimizer={kind: sgd, learningRate: 0.1}";

class Inductive : public testing::TestWithParam<std::string> {};

TEST_P(Inductive, OtherVerticesDontChangeTraining) {
  TemporaryFolder folder;
  write_data(folder / "one" / "small", false);
  write_data(folder / "two" / "small", true);
  for (const char* norm : {"none", "batch"}) {
    const Job job =
        small_job({fmt::format("model.kind={}", GetParam()), fmt::format("model.norm={}", norm),
                   "training.setting=inductive", "placement.partitioner={kind: range}", kPlainSteps});
    for (const int ranks : {1, 2}) {
      const SmallResult one = train_small(job, folder / "one" / "small", ranks, 10),
                        two = train_small(job, folder / "two" / "small", ranks, 10);
      const std::string what = fmt::format("norm {}, {} ranks", norm, ranks);
      expect_near(one.losses, two.losses, what + ", losses");
      expect_near(one.weights, two.weights, what + ", weights");
    }
  }
}

TEST_P(Inductive, IsTrainingOnADataSetOfTheTrainingVertices) {
  TemporaryFolder folder;
  write_data(folder / "whole" / "small", false);
  keep_training_vertices(Dataset::open(folder / "whole" / "small"), folder / "part" / "small");
  for (const char* norm : {"none", "batch"}) {
    // Draws are keyed by vertex, and here vertices have other numbers: no dropout.
    const std::vector<std::string> fields{fmt::format("model.kind={}", GetParam()),
                                          fmt::format("model.norm={}", norm), "training.dropout=0",
                                          "training.attentionDropout=0", kPlainSteps};
    std::vector<std::string> inductive = fields;
    inductive.push_back("training.setting=inductive");
    const SmallResult one = train_small(small_job(inductive), folder / "whole" / "small", 2, 10),
                      two = train_small(small_job(fields), folder / "part" / "small", 1, 10);
    expect_near(one.losses, two.losses, fmt::format("norm {}, losses", norm));
    expect_near(one.weights, two.weights, fmt::format("norm {}, weights", norm));
  }
}

INSTANTIATE_TEST_SUITE_P(Models, Inductive, testing::ValuesIn(every_kind()),
                         [](const auto& each) { return each.param; });

TEST(InductiveEvaluation, IsOnTheWholeGraphWithRunningStatistics) {
  TemporaryFolder folder;
  write_data(folder / "small", false);
  const Job job = small_job({"training.setting=inductive", "model.norm=batch"});
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    EXPECT_EQ(rank.data.vertices(), 60);
    EXPECT_EQ(rank.data.training_vertices(), 20);
    rank.trainer->train_epoch(1, 0.01);
    const auto values = rank.trainer->parameters().values();
    const std::vector<Real> before(values.begin(), values.end());
    const ConstMatrixView logits = rank.trainer->inference().infer();
    EXPECT_EQ(logits.rows, rank.data.owned());
    EXPECT_EQ(std::vector<Real>(values.begin(), values.end()), before)
        << "statistics don't move in evaluation";
    EXPECT_TRUE(rank.trainer->evaluate().validation.has_value());
  });
}

}  // namespace
}  // namespace atl
