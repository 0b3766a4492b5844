// How far a run is, and how long it will still take.
#include "base/json.h"
#include "telemetry/progress.h"

#include <cmath>

namespace atl {
namespace {

template <class T>
nlohmann::ordered_json or_null(const std::optional<T>& value) {
  if (!value || !std::isfinite(double(*value))) return nullptr;
  return *value;
}

nlohmann::ordered_json ranks_json(std::span<const RankWait> ranks) {
  auto json = nlohmann::ordered_json::array();
  for (const RankWait& r : ranks) {
    auto& rank = json.emplace_back(nlohmann::ordered_json{{"rank", r.rank}, {"answers", r.answers}});
    if (!r.answers) continue;
    rank["waitingFor"] = r.wait.peers;
    rank["waitedSeconds"] = r.wait.seconds;
  }
  return json;
}

}  // namespace

std::optional<double> TimeLeft::after(double epochs, Index all, Clock::time_point now) {
  if (!first_ || epochs <= *first_) {
    first_ = epochs;
    then_ = now;
    return std::nullopt;
  }
  return std::chrono::duration<double>(now - then_).count() / (epochs - *first_) * (double(all) - epochs);
}

void ProgressState::start(const RunRecord& run) {
  state_ = "training";
  epochs_ = run.setting.epochs;
  epoch_ = run.resumed_from;
  if (run.resumed_from > 0) last_checkpoint_ = run.resumed_from;
}

void ProgressState::add(const StepRecord& step) {
  step_ = step.step;
  steps_ = step.steps;
  loss_ = step.loss;
  seconds_left_ = time_left_.after(epochs_done(step), epochs_, TimeLeft::Clock::now());
}

void ProgressState::add(const EpochRecord& epoch) {
  epoch_ = epoch.epoch;
  if (step_) step_ = 0;
  loss_ = epoch.loss;
  if (epoch.validation) validation_ = epoch.validation;
  epoch_seconds_ = epoch.epoch_seconds;
  seconds_left_ = time_left_.after(double(epoch.epoch), epochs_, TimeLeft::Clock::now());
  bytes_ = epoch.bytes;
}

void ProgressState::finish(const RunRecord& run) {
  state_ = run.outcome;
  seconds_left_ = 0;
  validation_ = run.validation;
  test_ = run.test;
  if (run.best_epoch > 0) best_epoch_ = run.best_epoch;
}

std::string ProgressState::json(std::span<const RankWait> ranks) const {
  return nlohmann::ordered_json{{"state", state_},
                                {"epoch", epoch_},
                                {"epochs", epochs_},
                                {"step", or_null(step_)},
                                {"steps", or_null(steps_)},
                                {"loss", or_null(loss_)},
                                {"validation", or_null(validation_)},
                                {"epochSeconds", or_null(epoch_seconds_)},
                                {"etaSeconds", or_null(seconds_left_)},
                                {"lastCheckpointEpoch", or_null(last_checkpoint_)},
                                {"bytes", {{"intra", bytes_.intra}, {"inter", bytes_.inter}}},
                                {"test", or_null(test_)},
                                {"bestEpoch", or_null(best_epoch_)},
                                {"ranks", ranks_json(ranks)}}
             .dump() +
         "\n";
}

using SortedJson = nlohmann::json;

std::string wait_text(const WaitBoard::Wait& wait) {
  return SortedJson{{"for", wait.peers}, {"seconds", wait.seconds}}.dump();
}

std::optional<WaitBoard::Wait> read_wait(const std::string& text) {
  try {
    const SortedJson json = parse_json(text);
    return WaitBoard::Wait{json.at("for").get<std::vector<Rank>>(), json.at("seconds").get<double>()};
  } catch (const SortedJson::exception&) {
    return {};
  }
}

}  // namespace atl
