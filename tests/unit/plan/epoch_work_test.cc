// A rank's work in an epoch, counted by hand.
#include "plan/rank_shape.h"

#include <gtest/gtest.h>

#include "plan/dry_run.h"
#include "train/small_job.h"

namespace atl {
namespace {

TEST(EpochWork, CountsProductsGathersAndStreams) {
  const Job job = small_job({"training.inputDropout={rate: 0.3}", "model.layers=2", "training.dropout=0"});
  RankShape shape;
  shape.owned = 100;
  shape.own_arcs = 1000;
  const FeatureShape features{6};
  const Model model = planned_model(job, features, 3);  // 6 → 8 aggregates first, 8 → 3 transforms first
  const EpochWork once = epoch_work(model, shape, false);
  const double first = 2.0 * 6 * 8 * 100, second = 2.0 * 8 * 3 * 100;
  EXPECT_DOUBLE_EQ(once.product_flops, 2 * first + 3 * second);  // the features take no gradient
  const double of_six = 1000 * (4 + sizeof(Real) * 6.0), of_three = 1000 * (4 + sizeof(Real) * 3.0);
  EXPECT_DOUBLE_EQ(once.all_gathered(), of_six + 2 * of_three);
  const EpochWork twice = epoch_work(model, shape, true);
  EXPECT_DOUBLE_EQ(twice.product_flops, once.product_flops + first + second);
  EXPECT_DOUBLE_EQ(twice.all_gathered(), once.all_gathered() + of_six + of_three);
  EXPECT_GT(twice.all_streamed(), once.all_streamed());
  EXPECT_DOUBLE_EQ(evaluation_work(model, shape).product_flops, first + second);
  EXPECT_DOUBLE_EQ(seconds_of({2, 3, 4}, {1, 1, 1}), 9);
}

TEST(EpochWork, OfHalvesIsHalfTheBytesAndProductsOfAKindOfTheirOwn) {
  RankShape shape;
  shape.owned = 100;
  shape.own_arcs = 1000;
  const auto work = [&](const std::string& precision) {
    const Job job = small_job({"training.precision=" + precision, "model.layers=3"});
    return epoch_work(planned_model(job, {6}, 3), shape, false);
  };
  const EpochWork reals = work("float32"), halves = work("bfloat16");
  EXPECT_EQ(halves.product_flops, 0);
  EXPECT_DOUBLE_EQ(halves.half_flops, reals.product_flops);
  EXPECT_DOUBLE_EQ(halves.all_flops(), reals.all_flops());
  EXPECT_LT(halves.all_gathered(), 0.6 * reals.all_gathered());
  EXPECT_LT(halves.all_streamed(), 0.6 * reals.all_streamed());
  EXPECT_GT(halves.all_streamed(), 0.5 * reals.all_streamed()) << "the last layer's output is float32";
}

}  // namespace
}  // namespace atl
