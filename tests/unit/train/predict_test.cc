// `atoll predict` gives what the run itself predicted at its end, however it was trained, and also predicts
// unlabelled vertices.
#include "train/predictions.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/format/npy.h"
#include "job/load.h"
#include "train/every_model.h"
#include "train/session.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

struct Case {
  std::string name;
  std::vector<std::string> fields;
  SmallData data = {};
};

std::ostream& operator<<(std::ostream& out, const Case& c) {
  return out << c.name;
}

struct KeepRecord final : RunObserver {
  void on_result(const RunRecord& run) override { record = run; }
  RunRecord record;
};

/// A finished run on one rank.
class PredictRun {
 public:
  PredictRun(const std::vector<std::string>& fields, const SmallData& data) : job_(small_job(fields)) {
    write_small_data(folder_ / "small", data);
    job_.training.epochs = 4;
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job_, 1), graph_transforms(job_),
                        training_marks(dataset, job_));
    std::filesystem::create_directories(folder_ / "run");
    run_ranks(1, [&](Communicator& comm) {
      SessionOptions o;
      o.job = job_;
      o.job_yaml = write_job(job_);
      o.dataset = folder_ / "small";
      o.output = folder_ / "run";
      o.observer = &kept_;
      run_session(comm, o);
    });
  }

  const RunRecord& record() const { return kept_.record; }
  std::filesystem::path operator/(const std::string& name) const { return folder_ / name; }
  Predicted predict_small(bool probabilities = false) const {
    return predict({.model = folder_ / "run",
                    .dataset = folder_ / "small",
                    .output = folder_ / "predicted",
                    .threads = 2,
                    .probabilities = probabilities});
  }
  /// The same for another data set.
  Predicted predict_other(const SmallData& data, bool probabilities = false) const {
    write_small_data(folder_ / "other", data);
    return predict({.model = folder_ / "run",
                    .dataset = folder_ / "other",
                    .output = folder_ / "predicted",
                    .threads = 2,
                    .probabilities = probabilities});
  }

 private:
  TemporaryFolder folder_;
  Job job_;
  KeepRecord kept_;
};

class Predict : public testing::TestWithParam<Case> {};

TEST_P(Predict, IsWhatTheRunPredicted) {
  const PredictRun run(GetParam().fields, GetParam().data);
  const Predicted predicted = run.predict_small();
  EXPECT_EQ(predicted.metrics.test, run.record().test);
  EXPECT_EQ(predicted.metrics.validation, run.record().validation);
  EXPECT_THAT(predicted.warnings, IsEmpty());
  for (const char* file : {"predictions.npy", "embeddings.npy"})
    EXPECT_EQ(read_bytes(run / "predicted" / file), read_bytes(run / "run" / file)) << file;
}

TEST_P(Predict, NeedsNeitherLabelsNorSplits) {
  const PredictRun run(GetParam().fields, GetParam().data);
  SmallData bare = GetParam().data;
  bare.labelled = bare.split = false;
  const Predicted predicted = run.predict_other(bare, true);
  EXPECT_FALSE(predicted.metrics.test || predicted.metrics.validation || predicted.metrics.train);
  EXPECT_THAT(predicted.warnings, IsEmpty());
  for (const char* file : {"predictions.npy", "embeddings.npy"})
    EXPECT_EQ(read_bytes(run / "predicted" / file), read_bytes(run / "run" / file)) << file;
  EXPECT_EQ(NpyArray::open(run / "predicted/probabilities.npy").description(), "float32 (60, 3)");
  run.predict_small();
  EXPECT_FALSE(std::filesystem::exists(run / "predicted/probabilities.npy")) << "of an earlier call";
}

INSTANTIATE_TEST_SUITE_P(
    Models, Predict,
    testing::Values(Case{"gcn", {}}, Case{"gcn_recompute", {"training.recompute=layer"}},
                    Case{"gcn_inductive_batch_norm", {"training.setting=inductive", "model.norm=batch"}},
                    Case{"sage_sparse", {"model.kind=sage"}, {.density = 0.15}},
                    Case{"sage_bits", {"model.kind=sage"}, kBitData}, Case{"gcnii", {"model.kind=gcnii"}},
                    Case{"resgcn", {"model.kind=resgcn", "model.norm=batch"}},
                    Case{"p3", {"model.kind=sage", "strategy.kind=p3"}},
                    Case{"multi_label",
                         {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"},
                         {.multi_label = true}}),
    [](const auto& each) { return each.param.name; });

/// A model of features stored sparse begins with another layer than one of dense features.
TEST(PredictNewVertices, HoweverTheirFeaturesAreStored) {
  const SmallData sparse{.density = 0.15}, dense{.density = 0.15, .strangers = 40};
  for (const std::string& kind : every_kind()) {
    for (const bool to_dense : {true, false}) {
      const PredictRun run({fmt::format("model.kind={}", kind)}, to_dense ? sparse : dense);
      run.predict_other(to_dense ? dense : sparse, true);
      const auto other = NpyArray::open(run / "predicted/probabilities.npy").read<float>();
      const std::vector<float> old(other.begin(), other.begin() + 60 * 3);
      run.predict_small(true);
      const auto own = NpyArray::open(run / "predicted/probabilities.npy").read<float>();
      for (std::size_t i = 0; i < old.size(); ++i)
        EXPECT_NEAR(old[i], own[i], 1e-5) << kind << ", value " << i;
    }
  }
}

TEST(PredictNewVertices, AreAllMeasuredWithoutASplit) {
  const PredictRun run({}, {});
  const Predicted predicted = run.predict_other({.split = false});
  EXPECT_FALSE(predicted.by_split);
  EXPECT_FALSE(predicted.metrics.train || predicted.metrics.validation);
  const auto classes = NpyArray::open(run / "run/predictions.npy").read<std::int32_t>();
  const Dataset dataset = Dataset::open(run / "other");
  double right = 0;
  for (std::size_t v = 0; v < 54; ++v) right += classes[v] == dataset.labels()[v] ? 1 : 0;
  EXPECT_DOUBLE_EQ(predicted.metrics.test.value(), right / 54);
}

/// The largest of numbers that aren't any is the first class, of which nobody would think ill.
TEST(PredictNewVertices, OfFeaturesTooLargeToComputeWithAreWarnedOf) {
  const PredictRun run({}, {.features = 400});
  EXPECT_THAT(run.predict_other({.features = 400}).warnings, IsEmpty());
  std::filesystem::remove_all(run / "other");
  EXPECT_THAT(run.predict_other({.features = 400, .feature_scale = 3e38}).warnings,
              ElementsAre(AllOf(HasSubstr("small: what the model computes isn't finite for"),
                                HasSubstr("of 60 vertices"))));
}

TEST(PredictNewVertices, FindNothingOfEarlierPredictionsBesideTheirs) {
  const PredictRun run({}, {.class_names = "abc"});
  run.predict_small(true);
  for (const char* name : {"predicted_labels.npy", "probabilities.npy"})
    EXPECT_TRUE(std::filesystem::exists(run / "predicted" / name)) << name;
  for (const char* name : {"pair_scores.npy", "vertex_ids.npy"})
    write_bytes(run / "predicted" / name, "of another");
  run.predict_small();
  for (const char* name : {"probabilities.npy", "pair_scores.npy", "vertex_ids.npy"})
    EXPECT_FALSE(std::filesystem::exists(run / "predicted" / name)) << name;
  EXPECT_TRUE(std::filesystem::exists(run / "predicted/predicted_labels.npy"));
}

TEST(PredictNewVertices, LabelsThatArentTheModelsMeasureNothing) {
  const PredictRun run({}, {});
  for (const SmallData& other : {SmallData{.classes = 4}, SmallData{.multi_label = true}}) {
    const Predicted predicted = run.predict_other(other);
    EXPECT_FALSE(predicted.metrics.test.has_value());
    EXPECT_THAT(predicted.warnings, ElementsAre(HasSubstr("small: its labels aren't the model's")));
    EXPECT_EQ(read_bytes(run / "predicted/predictions.npy"), read_bytes(run / "run/predictions.npy"));
    std::filesystem::remove_all(run / "other");
  }
  EXPECT_TRUE(run.predict_other({.classes = 2}).metrics.test.has_value()) << "a class may not occur";
}

/// Text is numbered in each data set by itself: with other texts, a number is another class.
TEST(PredictNewVertices, LabelsOfOtherNamesMeasureNothing) {
  const PredictRun run({}, {.class_names = "abc"});
  const Predicted predicted = run.predict_other({.class_names = "acd"});
  EXPECT_FALSE(predicted.metrics.test.has_value());
  EXPECT_THAT(predicted.warnings,
              ElementsAre(HasSubstr("small: its class 1 is 'c', and the model's is 'b'")));
  std::filesystem::remove_all(run / "other");
  const Predicted measured = run.predict_other({.classes = 2, .class_names = "ab"});
  EXPECT_TRUE(measured.metrics.test.has_value());
  EXPECT_THAT(measured.warnings, IsEmpty());
}

/// A class without a name is called by its number, whichever side lacks the names.
TEST(PredictNewVertices, LabelsThatOneSideAloneNamesMeasureNothing) {
  const PredictRun named({}, {.class_names = "abc"}), unnamed({}, {});
  const Predicted by_number = named.predict_other({});
  EXPECT_FALSE(by_number.metrics.test.has_value());
  EXPECT_THAT(by_number.warnings,
              ElementsAre(AllOf(HasSubstr("small: its class 0 is '0', and the model's is 'a'"),
                                HasSubstr("with the model's names as class_names in meta.json"))));
  const Predicted by_name = unnamed.predict_other({.class_names = "021"});
  EXPECT_FALSE(by_name.metrics.test.has_value());
  EXPECT_THAT(by_name.warnings,
              ElementsAre(HasSubstr("small: its class 1 is '2', and the model's is '1': there are no metrics "
                                    "(import labels that are the model's numbers)")));
  std::filesystem::remove_all(unnamed / "other");
  const Predicted measured = unnamed.predict_other({.class_names = "012"});
  EXPECT_TRUE(measured.metrics.test.has_value()) << "names that are the numbers";
  EXPECT_THAT(measured.warnings, IsEmpty());
}

/// The run's `sumsFolder` was on the machine that trained.
TEST(PredictNewVertices, NeedNotTheFolderOfTheRunsSums) {
  const TemporaryFolder elsewhere;
  const std::filesystem::path sums = elsewhere / "sums";
  std::filesystem::create_directory(sums);
  const PredictRun run({"model.kind=sign", "strategy.kind=minibatch",
                        "strategy.minibatch={sampler: none, sumsFolder: " + sums.string() + "}"},
                       {});
  std::filesystem::remove(sums);
  EXPECT_EQ(run.predict_small().metrics.test, run.record().test);
  EXPECT_EQ(read_bytes(run / "predicted/predictions.npy"), read_bytes(run / "run/predictions.npy"));
  for (const auto& each : std::filesystem::directory_iterator(run / "predicted"))
    EXPECT_EQ(each.path().extension(), ".npy") << each.path();
}

TEST(PredictNewVertices, OtherFeaturesAreRefused) {
  const PredictRun run({}, {});
  for (const Index features : {Index(7), Index(0)}) {
    try {
      run.predict_other({.features = features});
      FAIL() << features << " features were taken";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(),
                  HasSubstr(features == 7 ? "has 7 features per vertex, but the model reads 6"
                                          : "has no features per vertex, but the model reads 6"));
    }
    std::filesystem::remove_all(run / "other");
  }
}

TEST(PredictNewVertices, ArcsOneWayWhereTheModelLearntBothAreWarnedOf) {
  const PredictRun run({}, {});
  EXPECT_THAT(run.predict_other({.symmetric = false}).warnings,
              ElementsAre(HasSubstr("small: its arcs go one way")));
}

}  // namespace
}  // namespace atl
