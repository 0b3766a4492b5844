// Strategy `p3` in its pipeline: on any number of ranks it learns what a plain loop of the recurrence learns,
// w(t + 1) = w(t) − η ∇f(w(t − 3)) with the first weights before (Gandhi & Iyer 2021, equation 3), or with
// Adam the rule for late gradients (late_steps.h), and computes two phases forward and two backward per step.
#include <gtest/gtest.h>

#include "train/late_steps.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kEpochs = 6;
constexpr double kSame = 1e-9,
                 kAdam = 1e-7;  // a step's length is one even where the gradient is nothing but rounding
/// Epochs' losses and the validation's; the weights too where a rank has all of them.
void expect_near(const SmallResult& one, const SmallResult& many, bool weights_too, double within = kSame) {
  ASSERT_EQ(one.losses.size(), many.losses.size());
  for (std::size_t e = 0; e < one.losses.size(); ++e)
    ASSERT_NEAR(one.losses[e], many.losses[e], within) << "epoch " << e + 1;
  EXPECT_NEAR(one.validation_loss, many.validation_loss, within);
  if (!weights_too) return;
  ASSERT_EQ(one.weights.size(), many.weights.size());
  for (std::size_t i = 0; i < one.weights.size(); ++i)
    ASSERT_NEAR(one.weights[i], many.weights[i], within) << i;
}

class P3Pipeline : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  SmallResult train(int ranks, const std::string& options, const PlainRule& rule = {}) {
    const Job job = batches_of("p3", GetParam(), ranks, options,
                               {fmt::format("training.epochs={}", kEpochs), rule.field()});
    return train_small(job, folder_ / "small", ranks, kEpochs);
  }
  SmallResult by_the_recurrence(const PlainRule& rule) {
    const Job job = batches_of("minibatch", GetParam(), 1, "", {rule.field()});
    const LateStepsResult late = train_by_late_steps(job, folder_ / "small", rule, kEpochs);
    EXPECT_GT(late.largest_gradient, 1e-3) << "it should learn to the end";
    return late.result;
  }
  TemporaryFolder folder_;
};

TEST_P(P3Pipeline, LearnsWhatTheRecurrenceLearns) {
  const SmallResult plain = by_the_recurrence({});
  EXPECT_NE(plain.losses.front(), plain.losses.back());
  expect_near(plain, train(1, "delay: 3"), true);
  for (const int ranks : {2, 3, 4}) {
    SCOPED_TRACE(ranks);
    expect_near(plain, train(ranks, "delay: 3, columns: rank"), false);
  }
  expect_near(plain, train(4, "delay: 3, copies: 2"), false);
}

/// Late gradients go into its means, each once and in the order of their steps; batches read weights that are
/// predicted.
TEST_P(P3Pipeline, LearnsByAdamWhatTheRecurrenceLearns) {
  const PlainRule adam{true, 0.01};
  const SmallResult plain = by_the_recurrence(adam);
  expect_near(plain, train(1, "delay: 3", adam), true, kAdam);
  expect_near(plain, train(3, "delay: 3, columns: rank", adam), false, kAdam);
  expect_near(plain, train(4, "delay: 3, copies: 2", adam), false, kAdam);
}

TEST_P(P3Pipeline, IsNotWhatOneBatchAtATimeLearns) {
  EXPECT_NE(train(2, "delay: 3").losses, train(2, "delay: 0").losses);
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model_by_columns();
  all.push_back({"recomputed", {"model.kind=gat", "training.recompute=layer"}, {.features = 11}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, P3Pipeline, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// What the compute thread does in a step, in order: by layers, 0 before what is made whole, 1 that, 2 behind
/// it.
std::string phases_of(const std::vector<Span>& spans, int whole) {
  std::string all;
  for (const Span& span : spans) {
    if (!span.computes || span.label.layer < whole) continue;
    const char letter = span.label.work == Work::kForward    ? 'F'
                        : span.label.work == Work::kBackward ? 'B'
                                                             : 0;
    if (letter == 0) continue;
    const std::string phase{letter, span.label.layer == whole ? 'm' : 'd', ' '};
    if (!all.ends_with(phase)) all += phase;
  }
  return all;
}

/// Figure 6's order. The layer that is made whole ends its forward, and begins its backward, in the own
/// batch's phases.
TEST(P3Order, IsTwoForwardAndTwoBackward) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = 11});
  const SmallCase gcn{"gcn", {kDroppedBefore}};
  const Job job = batches_of("p3", gcn, 2, "delay: 3, columns: rank", {"training.epochs=5"});
  std::vector<Trace> traces(2);
  auto transports = make_local_group(2);
  std::vector<std::thread> threads;
  for (std::size_t r = 0; r < 2; ++r)
    threads.emplace_back([&, r] {
      Communicator comm(std::move(transports[r]), {.trace = &traces[r]});
      SmallRank rank(comm, job, folder / "small", 1);
      for (Index epoch = 1; epoch <= 3; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    });
  for (std::thread& each : threads) each.join();
  // Of epoch 2, whose three steps are all in the pipeline.
  std::vector<Span> spans;
  for (const Span& each : traces[0].spans(Stream::kCompute, 2))
    if (each.label.epoch == 2) spans.push_back(each);
  const std::string step = "Fm Fd Bd Bm ";
  EXPECT_EQ(phases_of(spans, 0), step + step + step);
}

}  // namespace
}  // namespace atl
