// P3's pipeline as a plain loop (Gandhi & Iyer 2021, equation 3): w(t + 1) is w(t) after an optimiser's
// update along ∇f(w(t − 3)), with the first weights before. Takes one batch at a time on one rank; gets the
// gradient by an update of length 1, and the optimiser's rule from its paper.
#pragma once

#include <cmath>
#include <string>
#include <vector>

#include "train/small_job.h"

namespace atl {

/// Gradient descent, or Adam (Kingma & Ba 2015, algorithm 1) with the paper's constants; without weight
/// decay.
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
  void step(const std::vector<double>& gradient, std::vector<double>& weights) {
    constexpr double kBeta1 = 0.9, kBeta2 = 0.999, kEpsilon = 1e-8;
    ++steps_;
    for (std::size_t i = 0; i < weights.size(); ++i) {
      m_[i] = kBeta1 * m_[i] + (1 - kBeta1) * gradient[i];
      v_[i] = kBeta2 * v_[i] + (1 - kBeta2) * gradient[i] * gradient[i];
      const double m = m_[i] / (1 - std::pow(kBeta1, steps_)), v = v_[i] / (1 - std::pow(kBeta2, steps_));
      weights[i] -= rule_.rate * (rule_.is_adam ? m / (std::sqrt(v) + kEpsilon) : gradient[i]);
    }
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
    std::vector<std::vector<double>> weights{{present().begin(), present().end()}};  // [t]: after t updates
    std::vector<double> losses;
    for (Index epoch = 1; epoch <= epochs; ++epoch) {
      double loss = 0;
      late.largest_gradient = 0;
      for (std::int64_t s = 1; s <= rank.trainer->steps(); ++s) {
        const std::size_t done = weights.size() - 1;
        const std::vector<double>& read = weights[done < kLate ? 0 : done - kLate];
        std::ranges::copy(read, present().begin());
        loss += rank.trainer->train_step(std::int64_t(done) + 1, 1);
        std::vector<double> gradient, next = weights.back();
        for (std::size_t i = 0; i < count; ++i) {
          gradient.push_back(read[i] - double(present()[i]));
          late.largest_gradient = std::max(late.largest_gradient, std::abs(gradient.back()));
        }
        optimiser.step(gradient, next);
        weights.push_back(std::move(next));
      }
      losses.push_back(loss / rank.data.train.total);
    }
    std::ranges::copy(weights.back(), present().begin());
    late.result = result_of(std::move(losses), *rank.trainer);
  });
  return late;
}

}  // namespace atl
