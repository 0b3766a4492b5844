// Metrics against a naive count over the data set's own arrays, on several numbers of ranks.
#include "train/evaluation.h"

#include <gtest/gtest.h>

#include "telemetry/confusion.h"
#include "train/small_job.h"

namespace atl {
namespace {

/// A vertex's logit of a class: few levels, so that equal ones occur.
Real logit(std::uint64_t vertex, std::uint64_t cls) {
  return Real(Draws(6, Purpose::kGenerator).bits64_at(vertex, cls) % 7) - 3;
}

/// The first of the largest.
int predicted(std::uint64_t vertex, int classes) {
  int best = 0;
  for (int c = 1; c < classes; ++c) {
    if (logit(vertex, std::uint64_t(c)) > logit(vertex, std::uint64_t(best))) best = c;
  }
  return best;
}

struct Measured {
  Evaluation evaluation;
  ConfusionMatrix confusion;
};

/// Rank 0's; every rank's must be the same.
Measured measure(const Job& job, const std::filesystem::path& dataset, int ranks) {
  std::vector<Measured> all(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, dataset, 1);
    Matrix logits(rank.data.owned(), rank.data.classes());
    for (Index r = 0; r < logits.rows(); ++r) {
      const auto id = std::uint64_t(rank.data.part().graph->ids[std::size_t(r)]);
      for (Index c = 0; c < logits.cols(); ++c) logits.at(r, c) = logit(id, std::uint64_t(c));
    }
    EvaluationBuffers buffers(rank.ctx.device);
    all[std::size_t(comm.rank())] = {evaluate(rank.ctx, comm, rank.data, job.training, logits, buffers),
                                     confusion_of(rank.ctx, comm, rank.data, logits)};
  });
  for (const Measured& each : all)
    EXPECT_EQ(each.evaluation.test, all[0].evaluation.test) << "every rank is told";
  return all[0];
}

constexpr int kClasses = 3;

class Metrics : public testing::Test {
 protected:
  const Dataset& data(const SmallData& small) {
    write_small_data(folder_ / "small", small);
    dataset_ = std::make_unique<Dataset>(Dataset::open(folder_ / "small"));
    return *dataset_;
  }
  void expect_metrics(const Job& job, double train, double validation, double test) {
    for (const int ranks : {1, 2, 3}) {
      const Evaluation e = measure(job, folder_ / "small", ranks).evaluation;
      EXPECT_DOUBLE_EQ(e.train.value(), train) << ranks << " ranks";
      EXPECT_DOUBLE_EQ(e.validation.value(), validation) << ranks << " ranks";
      EXPECT_DOUBLE_EQ(e.test.value(), test) << ranks << " ranks";
    }
  }
  TemporaryFolder folder_;
  std::unique_ptr<Dataset> dataset_;
};

double share_correct(const Dataset& dataset, Split split) {
  double correct = 0, all = 0;
  const View<const std::uint8_t> splits = dataset.split("default");
  for (Index v = 0; v < splits.rows; ++v) {
    if (splits.at(v, 0) != std::uint8_t(split) || dataset.labels()[std::size_t(v)] < 0) continue;
    correct += predicted(std::uint64_t(v), kClasses) == dataset.labels()[std::size_t(v)] ? 1 : 0;
    all += 1;
  }
  return correct / all;
}

TEST_F(Metrics, AccuracyIsTheShareOfCorrectVertices) {
  const Dataset& d = data({.classes = kClasses});
  const double train = share_correct(d, Split::kTrain), validation = share_correct(d, Split::kValidation),
               test = share_correct(d, Split::kTest);
  ASSERT_GT(test, 0);
  ASSERT_LT(test, 1);
  expect_metrics(small_job({}), train, validation, test);
  expect_metrics(small_job({"training.metric=f1Micro"}), train, validation,
                 test);  // the same for one label each
}

/// 2 · tp / (2 · tp + fp + fn) over all pairs of a vertex and a label.
double f1_micro(const Dataset& dataset, Split split) {
  double both = 0, only_predicted = 0, only_actual = 0;
  const View<const std::uint8_t> splits = dataset.split("default");
  for (Index v = 0; v < splits.rows; ++v) {
    if (splits.at(v, 0) != std::uint8_t(split)) continue;
    for (int c = 0; c < kClasses; ++c) {
      const bool yes = logit(std::uint64_t(v), std::uint64_t(c)) > 0,
                 actual = dataset.targets().at(v, c) != 0;
      both += yes && actual ? 1 : 0;
      only_predicted += yes && !actual ? 1 : 0;
      only_actual += !yes && actual ? 1 : 0;
    }
  }
  const double precision = both / (both + only_predicted), recall = both / (both + only_actual);
  return 2 * precision * recall / (precision + recall);
}

TEST_F(Metrics, F1MicroIsTheHarmonicMeanOfPrecisionAndRecall) {
  const Dataset& d = data({.classes = kClasses, .multi_label = true});
  const Job job = small_job({"training.loss=binaryCrossEntropy", "training.metric=f1Micro"});
  expect_metrics(job, f1_micro(d, Split::kTrain), f1_micro(d, Split::kValidation), f1_micro(d, Split::kTest));
  EXPECT_TRUE(measure(job, folder_ / "small", 2).confusion.counts.empty())
      << "several labels have no such matrix";
}

/// Whether vertex v is of class c, and is predicted to be.
struct Verdict {
  bool is, predicted;
};

/// The mean over classes of each one's harmonic mean of precision and recall, with a loop over the vertices
/// for each class.
template <class VerdictOf>
double f1_macro_of(const Dataset& dataset, Split split, VerdictOf verdict_of) {
  double sum = 0;
  const View<const std::uint8_t> splits = dataset.split("default");
  for (int c = 0; c < kClasses; ++c) {
    double both = 0, predicted = 0, actual = 0;
    for (Index v = 0; v < splits.rows; ++v) {
      if (splits.at(v, 0) != std::uint8_t(split)) continue;
      const Verdict verdict = verdict_of(v, c);
      both += verdict.is && verdict.predicted ? 1 : 0;
      predicted += verdict.predicted ? 1 : 0;
      actual += verdict.is ? 1 : 0;
    }
    const double precision = both / predicted, recall = both / actual;
    sum += both == 0 ? 0 : 2 * precision * recall / (precision + recall);
  }
  return sum / kClasses;
}

TEST_F(Metrics, F1MacroIsTheMeanOfTheClassesF1) {
  const Dataset& d = data({.vertices = 200, .classes = kClasses});
  const auto macro = [&](Split split) {
    return f1_macro_of(d, split, [&](Index v, int c) {
      return Verdict{d.labels()[std::size_t(v)] == c, predicted(std::uint64_t(v), kClasses) == c};
    });
  };
  EXPECT_NE(macro(Split::kTest), share_correct(d, Split::kTest));
  expect_metrics(small_job({"training.metric=f1Macro"}), macro(Split::kTrain), macro(Split::kValidation),
                 macro(Split::kTest));
  const ConfusionMatrix confusion = measure(small_job({}), folder_ / "small", 2).confusion;
  EXPECT_DOUBLE_EQ(f1_macro(confusion).value(), macro(Split::kTest)) << "as the confusion matrix has it";
}

TEST_F(Metrics, F1MacroOfSeveralLabelsIsTheMeanOfTheLabelsF1) {
  const Dataset& d = data({.classes = kClasses, .multi_label = true});
  const auto macro = [&](Split split) {
    return f1_macro_of(d, split, [&](Index v, int c) {
      return Verdict{d.targets().at(v, c) != 0, logit(std::uint64_t(v), std::uint64_t(c)) > 0};
    });
  };
  expect_metrics(small_job({"training.loss=binaryCrossEntropy", "training.metric=f1Macro"}),
                 macro(Split::kTrain), macro(Split::kValidation), macro(Split::kTest));
}

TEST_F(Metrics, TheConfusionMatrixCountsTestVerticesByClassAndPrediction) {
  const Dataset& d = data({.classes = kClasses});
  std::vector<std::int64_t> counts(kClasses * kClasses, 0);
  const View<const std::uint8_t> splits = d.split("default");
  for (Index v = 0; v < splits.rows; ++v) {
    if (splits.at(v, 0) != std::uint8_t(Split::kTest) || d.labels()[std::size_t(v)] < 0) continue;
    ++counts[std::size_t(d.labels()[std::size_t(v)] * kClasses + predicted(std::uint64_t(v), kClasses))];
  }
  for (const int ranks : {1, 2, 3}) {
    const ConfusionMatrix matrix = measure(small_job({}), folder_ / "small", ranks).confusion;
    EXPECT_EQ(matrix.classes, kClasses);
    EXPECT_EQ(matrix.counts, counts) << ranks << " ranks";
  }
}

/// A run of 100,000 classes would end, trained, for want of 80 GB.
TEST_F(Metrics, OfVeryManyClassesThereIsNoConfusionMatrix) {
  data({.classes = int(kMostConfused) + 1});
  EXPECT_TRUE(measure(small_job({}), folder_ / "small", 2).confusion.counts.empty());
}

}  // namespace
}  // namespace atl
