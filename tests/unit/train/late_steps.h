// P3's pipeline as a plain loop (Gandhi & Iyer 2021, equation 3): w(t + 1) is w(t) after an optimiser's step
// along ∇f(r(t − 3)), where r(t) are the weights that a batch reads which is begun after t steps, and r(t) =
// r(0) before. By gradient descent r(t) = w(t), as in the paper. By Adam r(t) lies four of the step's
// directions ahead of w(t). One batch at a time on one rank, the gradient by a step of length 1, the
// optimiser's rule by its paper.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "train/small_job.h"

namespace atl {

/// Gradient descent, or Adam (Kingma & Ba 2015, algorithm 1) with the paper's constants, but for the mean of
/// gradients: that is over 40 steps instead of 10, and isn't corrected for beginning at 0. No decay of
/// weights.
struct PlainRule {
  bool is_adam = false;
  double rate = 0.05;

  /// The rule as a manifest's field.
  std::string field() const {
    return fmt::format("training.optimizer={{kind: {}, learningRate: {}, weightDecay: 0, clipNorm: 0}}",
                       is_adam ? "adam" : "sgd", rate);
  }
};

class PlainOptimiser {
 public:
  PlainOptimiser(const PlainRule& rule, std::size_t weights)
      : rule_(rule), m_(weights, 0.0), v_(weights, 0.0) {}
  /// Changes the weights, and returns those that a batch reads which is begun then.
  std::vector<double> step(const std::vector<double>& gradient, std::vector<double>& weights) {
    constexpr double kBeta1 = 0.975, kBeta2 = 0.999, kEpsilon = 1e-8, kAhead = 4;
    ++steps_;
    std::vector<double> read;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      m_[i] = kBeta1 * m_[i] + (1 - kBeta1) * gradient[i];
      v_[i] = kBeta2 * v_[i] + (1 - kBeta2) * gradient[i] * gradient[i];
      const double v = v_[i] / (1 - std::pow(kBeta2, steps_));
      const double direction = rule_.is_adam ? m_[i] / (std::sqrt(v) + kEpsilon) : gradient[i];
      weights[i] -= rule_.rate * direction;
      read.push_back(weights[i] - (rule_.is_adam ? kAhead * rule_.rate * direction : 0));
    }
    return read;
  }

 private:
  PlainRule rule_;
  std::vector<double> m_, v_;
  int steps_ = 0;
};

struct LateStepsResult {
  SmallResult result;
  double largest_gradient = 0;  // in the last epoch: a dead model has none
};

/// `job`: strategy minibatch on one rank; its optimiser is replaced.
inline LateStepsResult train_by_late_steps(Job job, const std::filesystem::path& data, const PlainRule& rule,
                                           int epochs) {
  constexpr std::size_t kLate = 3;
  OptimizerSpec& unit = job.training.optimizer;
  unit.kind = OptimizerKind::kSgd, unit.momentum = 0, unit.clip_norm = 0;
  LateStepsResult late;
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    const auto present = [&] { return rank.trainer->parameters().trainable(); };
    const std::size_t count = present().size();
    PlainOptimiser optimiser(rule, count);
    std::vector<double> weights{present().begin(), present().end()};
    std::vector<std::vector<double>> reads{weights};  // [t]: by the batch that is begun after t steps
    std::vector<double> losses;
    for (Index epoch = 1; epoch <= epochs; ++epoch) {
      double loss = 0;
      late.largest_gradient = 0;
      for (std::int64_t s = 1; s <= rank.trainer->steps(); ++s) {
        const std::size_t done = reads.size() - 1;
        const std::vector<double>& read = reads[done < kLate ? 0 : done - kLate];
        std::ranges::copy(read, present().begin());
        loss += rank.trainer->train_step(std::int64_t(done) + 1, 1);
        std::vector<double> gradient;
        for (std::size_t i = 0; i < count; ++i) {
          gradient.push_back(read[i] - double(present()[i]));
          late.largest_gradient = std::max(late.largest_gradient, std::abs(gradient.back()));
        }
        reads.push_back(optimiser.step(gradient, weights));
      }
      losses.push_back(loss / rank.data.train.total);
    }
    std::ranges::copy(weights, present().begin());
    late.result = result_of(std::move(losses), *rank.trainer);
  });
  return late;
}

}  // namespace atl
