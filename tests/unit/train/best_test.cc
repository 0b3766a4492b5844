// Which epoch counts as the best, and when patience is over.
#include "train/best.h"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace atl {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::optional<double> kNone = std::nullopt;

class BestEpoch : public testing::Test {
 protected:
  /// Epochs are numbered from 1. `validation` and `loss` are what the evaluation of the next one gives.
  void evaluate(std::optional<double> validation, std::optional<double> loss = 1.0) {
    evaluate(best_, ++epoch_, validation, loss);
  }
  void evaluate(Best& best, Index epoch, std::optional<double> validation, std::optional<double> loss) {
    Evaluation evaluation;
    evaluation.validation = validation;
    evaluation.validation_loss = loss;
    best.consider(epoch, evaluation, parameters_, host_stream());
  }

  Parameters parameters_{
      std::vector<std::vector<ParameterSpec>>{{ParameterSpec{.name = "weight", .rows = 1, .cols = 2}}}, 1};
  Best best_{EarlyStoppingSpec{.patience = 2}};
  Index epoch_ = 0;
};

TEST_F(BestEpoch, IsTheFirstOfTheHighest) {
  for (const double validation : {0.5, 0.7, 0.7, 0.6}) evaluate(validation);
  EXPECT_EQ(best_.epoch(), 2);
  EXPECT_EQ(best_.validation(), 0.7);
  EXPECT_FALSE(best_.patience_over(3));
  EXPECT_TRUE(best_.patience_over(4));
}

/// As without validation vertices, and with a ROC-AUC of one class.
TEST_F(BestEpoch, IsTheNewestWhileNoneHasANumber) {
  for (int i = 0; i < 5; ++i) evaluate(kNone);
  EXPECT_EQ(best_.epoch(), 5);
  EXPECT_EQ(best_.validation(), kNone);
  EXPECT_FALSE(best_.patience_over(5)) << "no epoch is better than another";
}

/// An epoch's own number was its score until now, and beat every accuracy.
TEST_F(BestEpoch, HasANumberIfAnyHas) {
  evaluate(kNone);
  evaluate(kNone);
  evaluate(0.2);
  EXPECT_EQ(best_.epoch(), 3);
  evaluate(kNone);
  evaluate(kNone);
  EXPECT_EQ(best_.epoch(), 3);
  EXPECT_EQ(best_.validation(), 0.2);
  EXPECT_TRUE(best_.patience_over(5));
}

TEST_F(BestEpoch, IsNoneThatGivesNan) {
  evaluate(kNan);
  EXPECT_EQ(best_.epoch(), 0);
  evaluate(0.1);
  evaluate(kNan);
  evaluate(std::numeric_limits<double>::infinity());
  EXPECT_EQ(best_.epoch(), 2);
}

TEST_F(BestEpoch, IsChosenByTheLossWhateverTheMetric) {
  Best best({.patience = 2, .metric = StopMetric::kValidationLoss});
  for (Index epoch = 1; const double loss : {3.0, 2.0, kNan, 2.5}) evaluate(best, epoch++, kNone, loss);
  EXPECT_EQ(best.epoch(), 2);
  EXPECT_TRUE(best.patience_over(4));
}

TEST_F(BestEpoch, GoesOnFromACheckpoint) {
  for (const std::optional<double> validation : {kNone, std::optional(0.4)}) {
    std::map<std::string, double> scalars;
    evaluate(validation);
    best_.save(scalars);
    Best resumed({.patience = 2});
    resumed.load(scalars);
    EXPECT_EQ(resumed.epoch(), best_.epoch());
    EXPECT_EQ(resumed.validation(), validation);
    evaluate(resumed, 9, kNone, 1);
    EXPECT_EQ(resumed.epoch(), validation ? best_.epoch() : 9) << "the newest, unless one has a number";
  }
}

/// Such a checkpoint would otherwise have its epoch as the best for ever.
TEST_F(BestEpoch, GoesOnFromACheckpointThatScoredEpochsByTheirNumber) {
  best_.load({{"best.epoch", 7}, {"best.score", 7}});
  evaluate(best_, 8, kNone, kNone);
  EXPECT_EQ(best_.epoch(), 8);
  best_.load({{"best.epoch", 7}, {"best.score", 7}});
  evaluate(best_, 8, 0.3, kNone);
  EXPECT_EQ(best_.epoch(), 8);
}

}  // namespace
}  // namespace atl
