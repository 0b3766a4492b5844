#include "telemetry/confusion.h"

#include <gtest/gtest.h>

#include "telemetry/sample_run.h"

namespace atl {
namespace {

/// Of 100 vertices 78 are of class 1, which is always predicted; class 2 neither occurs nor is predicted.
RunRecord lopsided_run() {
  RunRecord run = sample_run();
  run.confusion = {3, {0, 22, 0, 0, 78, 0, 0, 0, 0}};
  return run;
}

TEST(Confusion, TheMajorityIsTheLargestClass) {
  const Majority majority = majority_of(lopsided_run().confusion).value();
  EXPECT_EQ(majority.cls, 1);
  EXPECT_DOUBLE_EQ(majority.share, 0.78);
  EXPECT_FALSE(majority_of({}).has_value());
  EXPECT_FALSE(majority_of({2, {0, 0, 0, 0}}).has_value()) << "no test vertex";
}

TEST(Confusion, AClassThatNeitherOccursNorIsPredictedHasNoF1) {
  EXPECT_DOUBLE_EQ(f1_macro(lopsided_run().confusion).value(), (0 + 2 * 78.0 / 178) / 2);
  EXPECT_FALSE(f1_macro(ConfusionMatrix{}).has_value());
}

TEST(Confusion, AccuracyStandsBesideTheMajoritysShare) {
  RunRecord run = lopsided_run();
  EXPECT_EQ(beside_metric(run), "78.0 % are of class 1, F1 (macro) 43.8 %");
  run.setting.metric = "f1Micro";
  EXPECT_EQ(beside_metric(run), "78.0 % are of class 1, F1 (macro) 43.8 %");
  for (const char* metric : {"rocAuc", "f1Macro"}) {
    run.setting.metric = metric;
    EXPECT_EQ(beside_metric(run), "") << metric;
  }
  EXPECT_EQ(beside_metric(sample_run()), "") << "classes of like size";
}

}  // namespace
}  // namespace atl
