// Conditions on manifest and data set together that depend on the strategy.
#include "command/job_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "train/small_job.h"

namespace atl {
namespace {

LoadedJob pipeline_of(const std::string& options) {
  return parse_job(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: gcn, layers: 2}\n  placement: {ranks: 4}\n  strategy:\n    kind: gnnpipe\n    gnnpipe: " +
          options + "\n",
      "small.yaml");
}

TEST(TrainingFit, MoreChunksThanVerticesAreRefused) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 60});
  const Dataset dataset = Dataset::open(folder / "small");
  EXPECT_NO_THROW(check_trainable(pipeline_of("{chunks: 30}"), dataset));
  EXPECT_THAT(
      [&] { check_trainable(pipeline_of("{chunks: 31}"), dataset); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "small.yaml:10: strategy.gnnpipe.chunks: 31 from each of 2 parts, and small has 60 vertices (use 30 or "
          "fewer)")));
}

/// Every server, or rank, has a column at least.
TEST(TrainingFit, MorePiecesThanFeaturesAreRefused) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = 3});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto by_columns = [](const std::string& options, const std::string& placement) {
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  model: {kind: gcn, layers: 2}\n  placement: " +
            placement + "\n  strategy:\n    kind: p3\n    p3:\n      " + options + "\n",
        "small.yaml");
  };
  EXPECT_NO_THROW(check_trainable(by_columns("columns: rank", "{ranks: 3}"), dataset));
  EXPECT_NO_THROW(check_trainable(by_columns("columns: server", "{ranks: 6, ranksPerServer: 2}"), dataset));
  EXPECT_NO_THROW(check_trainable(by_columns("copies: 2", "{ranks: 6}"), dataset));
  EXPECT_THAT(
      [&] { check_trainable(by_columns("columns: rank", "{ranks: 5}"), dataset); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "small.yaml:11: strategy.p3.columns: columns are cut into 5 pieces, and small has 3 features: 2 "
          "would be empty (use fewer ranks or servers, or more copies)")));
}

LoadedJob sampled_by(const std::string& options) {
  return parse_job(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: gcn, layers: 2}\n  strategy:\n    kind: minibatch\n    minibatch: " +
          options + "\n",
      "small.yaml");
}

/// Draws with replacement take as long as there are many; the bound is named.
TEST(TrainingFit, FarMoreDrawsThanThereAreVerticesAreRefused) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 60});
  const Dataset dataset = Dataset::open(folder / "small");
  for (const std::string& sampler : {std::string("saintVertex"), std::string("saintEdge"),
                                     std::string("saintWalk"), std::string("fastgcn")}) {
    const bool by_layer = sampler == "fastgcn";
    const auto with = [&](const std::string& draws) {
      return sampled_by("{sampler: " + sampler +
                        (by_layer ? ", layerSizes: [10, " + draws + "]}" : ", draws: " + draws + "}"));
    };
    EXPECT_NO_THROW(check_trainable(with("100000"), dataset)) << sampler;
    EXPECT_THAT([&] { check_trainable(with("100001"), dataset); },
                testing::ThrowsMessage<Error>(testing::AllOf(
                    testing::HasSubstr(by_layer ? "strategy.minibatch.layerSizes: 100001 draws"
                                                : "strategy.minibatch.draws: 100001 draws"),
                    testing::HasSubstr("sampler " + sampler), testing::HasSubstr("use 100000 or fewer"))));
  }
  EXPECT_THAT(training_doubts(sampled_by("{sampler: uniform, draws: 61}"), dataset),
              testing::Contains(
                  testing::HasSubstr("sampler uniform draws all 60 vertices of small in each step, for 61")));
  EXPECT_THAT(training_doubts(sampled_by("{sampler: uniform, draws: 60}"), dataset),
              testing::Not(testing::Contains(testing::HasSubstr("uniform"))));
}

LoadedJob clusters(const std::string& options, const std::string& placement) {
  return parse_job(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: sage}\n  placement: {partitioner: {" +
          placement + "}}\n  strategy: {kind: minibatch, minibatch: {sampler: cluster" + options + "}}\n",
      "small.yaml");
}

/// A step of all clusters is the whole graph.
TEST(TrainingFit, AStepOfAllClustersIsDoubted) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 80});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto is_told = testing::Contains(testing::HasSubstr("every step merges all 5 clusters of small"));
  EXPECT_THAT(training_doubts(clusters("", "parts: 5"), dataset), testing::IsEmpty());
  EXPECT_THAT(training_doubts(clusters(", merged: 4", "parts: 5"), dataset), testing::IsEmpty());
  EXPECT_THAT(training_doubts(clusters(", merged: 5", "parts: 5"), dataset), is_told);
  EXPECT_THAT(training_doubts(clusters("", "parts: 1"), dataset),
              testing::Contains(testing::HasSubstr("every step merges all 1 cluster of small")));
}

/// 160 by default, which a small graph is too small for.
TEST(TrainingFit, ClustersOfASmallGraphAreDoubtedOrRefused) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 80});
  write_small_data(folder / "more", {.vertices = 320, .arc_share = 0.01});
  const Dataset small = Dataset::open(folder / "small"), more = Dataset::open(folder / "more");
  EXPECT_THAT(
      [&] { check_trainable(clusters("", ""), small); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "placement.partitioner.parts: sampler cluster divides a graph into 160 parts by default, and small has 80 vertices "
          "(give 8 or fewer)")));
  EXPECT_NO_THROW(check_trainable(clusters("", "parts: 8"), small));
  EXPECT_NO_THROW(check_trainable(clusters("", ""), more));
  EXPECT_THAT(
      training_doubts(clusters("", ""), more),
      testing::ElementsAre(testing::HasSubstr(
          "160 clusters of small have 2 vertices each, and keep few neighbours together (give 20 or fewer)")));
  EXPECT_THAT(training_doubts(clusters("", "parts: 20"), more), testing::IsEmpty());
}

TEST(TrainingFit, DataOfOneClassAreDoubted) {
  TemporaryFolder folder;
  write_small_data(folder / "one", {.vertices = 60, .classes = 1});
  for (const char* metric : {"accuracy", "f1Macro"}) {
    const LoadedJob job = parse_job(
        std::string(
            "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: "
            "one}\n  model: {kind: gcn}\n  training: {metric: ") +
            metric + "}\n",
        "small.yaml");
    EXPECT_THAT(training_doubts(job, Dataset::open(folder / "one")),
                testing::ElementsAre(
                    "small.yaml:5: dataset.name: all 54 labelled vertices of small are of class 0: there is "
                    "nothing to learn, and every prediction is right; check the labels"))
        << metric;
  }
}

/// Nine vertices of two classes, or of two labels each, which take the three splits in turn. The validation's
/// are all of class 1, except one of them where `both`.
void write_validation(const std::filesystem::path& place, bool multi_label, bool both) {
  WriterOptions options;
  options.name = "small";
  options.threads = 1;
  DatasetWriter writer(place, options);
  constexpr Index kVertices = 9;
  writer.set_vertices(kVertices);
  writer.add_arcs(std::vector<VertexId>{0}, std::vector<VertexId>{1}, {}, {});
  std::vector<std::int32_t> labels;
  std::vector<std::uint8_t> targets, split;
  for (Index v = 0; v < kVertices; ++v) {
    split.push_back(std::uint8_t(1 + v % 3));
    const bool validates = split.back() == std::uint8_t(Split::kValidation);
    labels.push_back(validates ? (both && v == 1 ? 0 : 1) : std::int32_t(v % 2));
    targets.insert(targets.end(), 2, std::uint8_t(labels.back()));
  }
  if (multi_label)
    writer.set_targets({targets.data(), kVertices, 2}, {});
  else
    writer.set_labels(labels, 2, {});
  writer.add_split("default", {split.data(), kVertices, 1}, "small");
  writer.finish();
}

std::vector<std::string> area_doubts(const std::filesystem::path& dataset, const std::string& stopping,
                                     bool multi_label) {
  const LoadedJob job = parse_job(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: sage}\n  training: {metric: rocAuc, " +
          std::string(multi_label ? "loss: binaryCrossEntropy, " : "") + "earlyStopping: {" + stopping +
          "}}\n",
      "small.yaml");
  return training_doubts(job, Dataset::open(dataset));
}

/// Its area under the curve has no value: until now every epoch counted as the best, and none stopped early.
TEST(TrainingFit, ValidationVerticesOfOneClassAreDoubtedWithRocAuc) {
  for (const bool multi_label : {false, true}) {
    TemporaryFolder folder;
    write_validation(folder / "one", multi_label, false);
    write_validation(folder / "both", multi_label, true);
    const auto doubts = [&](const char* name, const std::string& stopping) {
      return area_doubts(folder / name, stopping, multi_label);
    };
    const std::string why =
        multi_label ? "all have the same labels, and rocAuc needs vertices with a label and without"
                    : "are all of one class, and rocAuc needs both";
    EXPECT_THAT(
        doubts("one", "patience: 3"),
        testing::Contains(testing::HasSubstr(
            "small.yaml:7: training.metric: the validation vertices of small " + why +
            ", so that no epoch is better than another: training doesn't stop early; choose another")));
    EXPECT_THAT(doubts("one", "patience: 0"),
                testing::Contains(testing::HasSubstr("so that no epoch is better than another; choose")));
    EXPECT_THAT(doubts("one", "patience: 3, metric: validationLoss"),
                testing::Contains(testing::HasSubstr(why + ": no epoch has a validation rocAuc; choose")));
    EXPECT_THAT(doubts("both", "patience: 3"),
                testing::Not(testing::Contains(testing::HasSubstr("training.metric"))));
  }
}

/// Of fewer negative pairs none is the K-th best, and every edge counts as a hit.
/// `training` labels of training vertices, then those of test vertices; −1: unlabelled.
std::vector<std::string> doubts_of_labels(std::vector<std::int32_t> training,
                                          const std::vector<std::int32_t>& test) {
  TemporaryFolder folder;
  std::vector<std::uint8_t> split(training.size(), std::uint8_t(Split::kTrain));
  split.resize(training.size() + test.size(), std::uint8_t(Split::kTest));
  std::vector<std::int32_t> labels = std::move(training);
  labels.insert(labels.end(), test.begin(), test.end());
  WriterOptions options;
  options.name = "small";
  options.threads = 1;
  DatasetWriter writer(folder / "small", options);
  const auto vertices = Index(labels.size());
  writer.set_vertices(vertices);
  writer.add_arcs(std::vector<VertexId>{0}, std::vector<VertexId>{1}, {}, {});
  writer.set_labels(labels, 4, {});
  writer.add_split("default", {split.data(), vertices, 1}, "small");
  writer.finish();
  const LoadedJob job = parse_job(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: sage}\n",
      "small.yaml");
  return training_doubts(job, Dataset::open(folder / "small"));
}

TEST(TrainingFit, ClassesWithoutATrainingVertexAreDoubted) {
  EXPECT_THAT(doubts_of_labels({0, 1}, {0, 1, -1}), testing::IsEmpty()) << "2 and 3 don't occur";
  EXPECT_THAT(doubts_of_labels({0, 1, -1}, {0, 2, 2, 3}),
              testing::ElementsAre(testing::HasSubstr(
                  "dataset.split: no training vertex of small is of class 2, 3, and 3 validation and test "
                  "vertices are")));
}

TEST(TrainingFit, HitsAtMoreThanThereAreNegativePairsAreDoubted) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.edges = true});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto& pairs = dataset.meta().pairs.of;
  const Index fewest =
      std::min(pairs[std::size_t(PairSet::kValidationNegative)], pairs[std::size_t(PairSet::kTestNegative)]);
  const auto hits_at = [](Index k) {
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  task: linkPrediction\n  linkPrediction: {metric: hits, hitsAt: " +
            std::to_string(k) + "}\n  model: {kind: gcn, layers: 2}\n",
        "small.yaml");
  };
  EXPECT_THAT(training_doubts(hits_at(fewest), dataset), testing::IsEmpty());
  EXPECT_THAT(training_doubts(hits_at(fewest + 1), dataset),
              testing::ElementsAre(testing::AllOf(
                  testing::HasSubstr(fmt::format("hits@{} of small is always 100 %", fewest + 1)),
                  testing::HasSubstr(fmt::format("use {} or less", fewest)))));
}

}  // namespace
}  // namespace atl
