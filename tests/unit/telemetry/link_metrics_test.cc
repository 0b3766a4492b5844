// Metrics of link prediction, by hand: equal scores, fewer negative pairs than K, scores that aren't numbers.
#include "telemetry/link_metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace atl {
namespace {

TEST(LinkMetrics, ByHand) {
  // Descending: 5e 4n 3e 3n 2n 1e
  const LinkMetrics m = link_metrics({5, 3, 1}, {4, 3, 2}, 1);
  EXPECT_NEAR(m.roc_auc, (3 + 1.5 + 0) / 9, 1e-12);
  // Thresholds 5, 4, 3, 2, 1: recall grows at 5 (1 of 1), 3 (2 of 4) and 1 (3 of 6).
  EXPECT_NEAR(m.average_precision, (1.0 + 2.0 / 4 + 3.0 / 6) / 3, 1e-12);
  // Ranks 1; 2 at best and 3 at worst; 4.
  EXPECT_NEAR(m.mrr, (1 + 1 / 2.5 + 0.25) / 3, 1e-12);
  EXPECT_NEAR(m.hits_at, 1.0 / 3, 1e-12) << "above 4";
  EXPECT_EQ(m.hits[0], 1) << "there aren't ten";
}

TEST(LinkMetrics, HitsAreStrictlyAboveTheKthNegative) {
  EXPECT_NEAR(link_metrics({4, 3, 2}, {4, 3, 1}, 2).hits_at, 1.0 / 3, 1e-12);
  EXPECT_NEAR(link_metrics({4, 3, 2}, {4, 3, 1}, 3).hits_at, 1, 1e-12);
}

TEST(LinkMetrics, OfEqualScoresTellNothing) {
  const LinkMetrics m = link_metrics({1, 1}, {1, 1, 1}, 1);
  EXPECT_NEAR(m.roc_auc, 0.5, 1e-12);
  EXPECT_NEAR(m.average_precision, 0.4, 1e-12);
  EXPECT_NEAR(m.mrr, 1 / 2.5, 1e-12);
  EXPECT_EQ(m.hits_at, 0);
}

TEST(LinkMetrics, OfScoresThatAreNoNumbersAreWrong) {
  const Real nan = std::numeric_limits<Real>::quiet_NaN();
  EXPECT_EQ(link_metrics({nan}, {0, nan}, 1).roc_auc, 0);
  EXPECT_EQ(link_metrics({3, nan}, {0, 1}, 1).roc_auc, 0.5);
}

TEST(LinkMetrics, OfEachChoiceAreReported) {
  const LinkMetrics m = link_metrics({5, 3, 1}, {4, 3, 2}, 2);
  LinkSpec spec;
  EXPECT_EQ(reported(spec, m), m.roc_auc);
  spec.metric = LinkMetric::kAveragePrecision;
  EXPECT_EQ(reported(spec, m), m.average_precision);
  spec.metric = LinkMetric::kMrr;
  EXPECT_EQ(reported(spec, m), m.mrr);
  spec.metric = LinkMetric::kHits, spec.hits_at = 2;
  EXPECT_EQ(reported(spec, m), m.hits_at);
  EXPECT_EQ(link_metric_name(spec), "hits@2");
}

}  // namespace
}  // namespace atl
