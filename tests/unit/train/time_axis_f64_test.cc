// The time axis of the seam: three concurrent passes, each with the weights at its beginning, learn what a
// plain loop of the recurrence learns: w(t+1) = w(t) − η ∇f(w(t−3)), with the first weights before (P3:
// Gandhi & Iyer 2021, section 3.4).
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>

#include "train/every_model.h"
#include "train/gnnpipe_oracles.h"

namespace atl {
namespace {

constexpr Real kRate = Real(0.05);
constexpr int kSteps = 9, kDelay = 3;

/// A model on one rank that has the whole graph, run pass by pass.
class OneRank {
 public:
  OneRank(SmallRank& rank, const Job& job)
      : ctx_(rank.ctx),
        data_(job, rank.dataset, rank.prepared, 0),
        model_(make_model(job.model, job.training,
                          {whole().features.cols(), data_.classes(), false, DropsOut::kReaders})),
        parameters_(model_.parameters(), job.training.seed),
        runner_(ctx_, model_, nullptr),
        seed_(job.training.seed) {}

  /// A pass of its own, with memory of its own, which goes forward at once.
  class Flight {
   public:
    Flight(OneRank& one, int step)
        : one_(one),
          pass_(one.ctx_, one.whole(), one.model_, equal_chunks(one.whole().graph->owned, 1), one.seed_),
          memory_(Device::kCpu, one.model_, {0, int(one.model_.layers.size())}, Passes::kTraining) {
      const auto values = one.parameters_.trainable();
      stash_.assign(values.begin(), values.end());
      gradients_.assign(values.size(), 0);
      std::vector<LayerRows> rows;
      for (int l = 0; l < int(one.model_.layers.size()); ++l) rows.push_back(pass_.rows(0, l));
      memory_.shape(rows);
      pass_.begin_epoch(step);
      pass_.at_chunk(0);
      one.runner_.forward(pass_, weights(), memory_, {one.whole().features, {}});
    }

    const std::vector<Real>& come_back() {
      double unread = 0;
      cross_entropy(one_.ctx_, memory_.output(memory_.layers().end - 1), one_.data_.training_labels().classes,
                    one_.data_.training_rows(), Real(0.1), memory_.d_output(), &unread);
      one_.runner_.backward(pass_, weights(), memory_, {one_.whole().features, {}}, {}, nullptr);
      return gradients_;
    }

   private:
    WeightVersion weights() {
      WeightVersion version = one_.parameters_.present();
      version.trainable = stash_.data();
      version.gradients = gradients_.data();
      return version;
    }

    OneRank& one_;
    ChunkedPass pass_;
    PassMemory memory_;
    std::vector<Real> stash_, gradients_;
  };

  std::vector<Real> weights() const {
    const auto values = const_cast<Parameters&>(parameters_).trainable();
    return {values.begin(), values.end()};
  }
  void set_weights(const std::vector<Real>& values) {
    std::ranges::copy(values, parameters_.trainable().begin());
  }

 private:
  const GraphPart& whole() const { return data_.training_part(); }

  Context& ctx_;
  RankData data_;
  Model model_;
  Parameters parameters_;
  LayerRunner runner_;
  std::uint64_t seed_;
};

std::vector<Real> stepped(std::vector<Real> weights, const std::vector<Real>& gradients) {
  for (std::size_t i = 0; i < weights.size(); ++i) weights[i] -= kRate * gradients[i];
  return weights;
}

/// Step t goes forward with the weights that there are, and comes back when the three after it have gone
/// forward.
std::vector<Real> with_three_in_flight(OneRank& one) {
  std::deque<OneRank::Flight> in_flight;
  for (int t = 1; t <= kSteps + kDelay; ++t) {
    if (t <= kSteps) in_flight.emplace_back(one, t);
    if (t <= kDelay) continue;
    one.set_weights(stepped(one.weights(), in_flight.front().come_back()));
    in_flight.pop_front();
  }
  return one.weights();
}

/// One pass at a time. weights[t]: what step t + 1 changes.
std::vector<Real> by_the_recurrence(OneRank& one) {
  std::vector<std::vector<Real>> weights{one.weights()};
  for (int t = 1; t <= kSteps; ++t) {
    one.set_weights(weights[std::size_t(std::max(0, t - 1 - kDelay))]);
    OneRank::Flight alone(one, t);
    weights.push_back(stepped(weights.back(), alone.come_back()));
  }
  return weights.back();
}

class TimeAxis : public testing::TestWithParam<SmallCase> {};

TEST_P(TimeAxis, ThreeInFlightLearnWhatTheRecurrenceLearns) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  run_ranks(1, [&](Communicator& alone) {
    const Job job = small_job(GetParam().fields);
    SmallRank rank(alone, job, folder / "small", 1);
    OneRank pipelined(rank, job), plain(rank, job);
    const std::vector<Real> before = plain.weights(), one = by_the_recurrence(plain),
                            three = with_three_in_flight(pipelined);
    EXPECT_NE(one, before) << "nothing was learned";
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_NEAR(three[i], one[i], 1e-12) << i;
  });
}

INSTANTIATE_TEST_SUITE_P(Models, TimeAxis, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
