// Trains with a strategy on a graph to find out how well it learns, with ranks as threads of this process.
#include "compare/comparison.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include "base/error.h"
#include "comm/transports.h"
#include "plan/traffic.h"
#include "train/optimizer.h"
#include "train/trainer.h"

namespace atl {
namespace {

constexpr Index kTrialEpochs = 2;  // epochs between evaluations, if an epoch is one step

/// The input that all ranks share.
struct Trial {
  const Job& job;
  const Dataset& dataset;
  const PreparedGraph& prepared;
  PartRanks parts;
  TrialEnd end;
};

/// Neither copyable nor movable: its members point to each other. All calls come from one thread.
class TrialRank {
 public:
  TrialRank(const Trial& trial, std::unique_ptr<Transport> transport)
      : trial_(trial), comm_(std::move(transport)) {}
  TrialRank(const TrialRank&) = delete;

  /// Trains, and returns the same curve on all ranks. Collective.
  TrialCurve train() {
    try {
      return curve();
    } catch (...) {
      comm_.abandon();  // before the memory of its messages is freed
      throw;
    }
  }

 private:
  TrialCurve curve() {
    data_ =
        std::make_unique<RankData>(trial_.job, trial_.dataset, trial_.prepared, comm_.rank(), trial_.parts);
    data_->count(comm_);
    trainer_ = std::make_unique<Trainer>(ctx_, comm_, trial_.job, *data_);
    TrialCurve curve;
    const Index between = trainer_->steps() > 1 ? 1 : std::min<Index>(kTrialEpochs, trial_.end.steps);
    for (Index epoch = 1; epoch * trainer_->steps() <= trial_.end.steps; ++epoch) {
      const After after = train_epoch(epoch);
      curve.out_of_time = after == After::kTime;
      if (after != After::kGoesOn) break;
      if (epoch % between != 0) continue;
      const std::optional<double> value = trainer_->evaluate().validation;
      if (!value) break;
      curve.points.push_back({epoch * trainer_->steps(), *value});
      if (*value >= trial_.end.wanted || (trial_.end.when_settled && is_settled(curve.points))) break;
    }
    comm_.barrier();
    return curve;
  }

  enum class After { kGoesOn, kNotFinite, kTime };

  /// Trains an epoch. Tells whether all ranks' losses and gradients were finite, and whether rank 0's clock
  /// leaves time.
  After train_epoch(Index epoch) {
    const TrainingSpec& t = trial_.job.training;
    const double rate = learning_rate_at(t.schedule, t.optimizer.learning_rate, epoch, t.epochs);
    for (std::int64_t step = 1; step <= trainer_->steps(); ++step) {
      // A step ends with a sum over all ranks (train/epoch_loop.h).
      const double loss = trainer_->train_step((epoch - 1) * trainer_->steps() + step, rate);
      const bool is_over = comm_.rank() == 0 && seconds() >= trial_.end.seconds;
      std::array<double, 2> sums{loss, is_over ? 1.0 : 0.0};
      comm_.all_reduce(Traffic::kStatistics, std::span<double>(sums));
      if (!std::isfinite(sums[0]) || !trainer_->finite()) return After::kNotFinite;
      if (sums[1] > 0) return After::kTime;
    }
    return After::kGoesOn;
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }

  using Clock = std::chrono::steady_clock;

  const Trial& trial_;
  const Clock::time_point began_ = Clock::now();
  ThreadPool pool_{1};
  Workspace workspace_;
  Context ctx_{Device::kCpu, &pool_, &workspace_};
  Communicator comm_;
  std::unique_ptr<RankData> data_;
  std::unique_ptr<Trainer> trainer_;
};

/// Chooses which of several ranks' failures is reported. Any thread may call it.
class Failures {
 public:
  /// Keeps the exception that is being handled.
  void keep() {
    const std::lock_guard guard(lock_);
    try {
      throw;
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::resource_unavailable_try_again)
        no_thread_ = error.code().message();
      else if (!first_)
        first_ = std::current_exception();
    } catch (...) {
      if (!first_) first_ = std::current_exception();
    }
  }

  /// Call when all threads have ended. Throws the first failure, if there is one: the other ranks' failures
  /// follow from it. A rank whose thread can't be started is gone before it can report anything, so that
  /// failure goes first.
  void rethrow(std::size_t ranks) const {
    if (!no_thread_.empty())
      fail(
          "a trial trains on {} ranks of two threads each, and one can't be started: {}: raise `ulimit -u`, or use "
          "fewer ranks",
          ranks, no_thread_);
    if (first_) std::rethrow_exception(first_);
  }

 private:
  std::mutex lock_;
  std::exception_ptr first_;
  std::string no_thread_;  // why a thread couldn't be started
};

}  // namespace

std::optional<std::int64_t> reached(const std::vector<TrialPoint>& points, double wanted) {
  const auto found =
      std::ranges::find_if(points, [&](const TrialPoint& point) { return point.validation >= wanted; });
  if (found == points.end()) return {};
  return found->steps;
}

bool is_settled(const std::vector<TrialPoint>& points) {
  if (points.empty() || points.back().steps < kFewSteps) return false;
  const double best = std::ranges::max(points, {}, &TrialPoint::validation).validation;
  const std::int64_t near_best = *reached(points, best - kGoodEnough);
  return points.front().steps < near_best && 2 * near_best <= points.back().steps;
}

TrialCurve train_for(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                     const std::vector<std::string>& hosts, const TrialEnd& end) {
  const Trial trial{job, dataset, prepared, PartRanks(rank_traffic(job, dataset, prepared).parts), end};
  const std::size_t ranks = hosts.size();
  std::vector<std::unique_ptr<Transport>> transports = make_local_group(int(ranks), hosts);
  std::vector<TrialCurve> curves(ranks);
  Failures failures;
  {
    std::vector<std::jthread> threads;
    try {
      for (std::size_t r = 0; r < ranks; ++r)
        threads.emplace_back([&, r] {
          try {
            curves[r] = TrialRank(trial, std::move(transports[r])).train();
          } catch (...) {
            failures.keep();
          }
        });
    } catch (...) {
      failures.keep();
      // The ranks that have started would wait for the others.
      for (std::size_t r = threads.size(); r < ranks; ++r) transports[r].reset();
    }
  }
  failures.rethrow(ranks);
  return curves.front();
}

void enter_trial(ComparedStrategy& row, const std::string& tried_on, std::optional<std::int64_t> steps,
                 std::int64_t affordable, std::int64_t graphs) {
  Effect effect = row.effect.value_or(Effect{});
  effect.tried_on = tried_on;
  effect.lengths = {.of_runs = {{double(steps.value_or(affordable + 1)) / double(graphs)}}};
  effect.cut_off = !steps;
  row.effect = effect;
}

bool enter_unfinished_trial(const Comparison& comparison, ComparedStrategy& row, const std::string& tried_on,
                            std::int64_t trained, std::int64_t graphs) {
  const std::optional<double> known = comparison.cost(row);
  if (!known || row.step_seconds() * double(trained) / double(graphs) < *known) return false;
  enter_trial(row, tried_on, {}, trained, graphs);
  return true;
}

}  // namespace atl
