#include "plan/stage_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/text.h"
#include "job/strategies.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

StagePlan stage_of(const Model& model, const LayerRange& layers) {
  StagePlan stage;
  stage.first_convolution = 1;
  for (int l = 0; l < layers.end; ++l) {
    const bool gathers = model.spec(l).gathers;
    if (l < layers.first)
      stage.first_convolution += gathers ? 1 : 0;
    else
      ++(gathers ? stage.convolutions : stage.dense);
  }
  return stage;
}

std::string convolutions_text(const StagePlan& stage) {
  if (stage.convolutions == 0) return "none";
  if (stage.convolutions == 1) return std::to_string(stage.first_convolution);
  return fmt::format("{}–{}", stage.first_convolution, stage.first_convolution + stage.convolutions - 1);
}

std::string ranks_text(const StagePlan& stage) {
  const Rank first = stage.ranks.front(), last = stage.ranks.back();
  return first == last ? std::to_string(first) : fmt::format("{}–{}", first, last);
}

}  // namespace

std::vector<StagePlan> stage_plans(const Job& job, const Model& model) {
  std::vector<StagePlan> stages;
  if (strategy_of(job).layers == nullptr) return stages;
  int begins = -1;  // of the stage before
  for (Rank rank = 0; rank < job.placement.ranks; ++rank) {
    const LayerRange layers = layers_of(job, model, rank);
    if (layers.first != begins) stages.push_back(stage_of(model, layers));
    stages.back().ranks.push_back(rank);
    begins = layers.first;
  }
  return stages;
}

std::string to_text(const std::vector<StagePlan>& stages) {
  if (stages.empty()) return "";
  const auto row = [&](const std::string& name, auto&& figure) {
    std::string line = fmt::format("  {:<26}", name);
    for (std::size_t i = 0; i < stages.size(); ++i) line += fmt::format("{:>14}", figure(stages[i], i));
    return line + "\n";
  };
  const bool any_dense = std::ranges::any_of(stages, [](const StagePlan& s) { return s.dense > 0; });
  return row("layers of each stage",
             [](const StagePlan&, std::size_t i) { return fmt::format("stage {}", i); }) +
         row("on ranks", [](const StagePlan& s, std::size_t) { return ranks_text(s); }) +
         row("convolutions", [](const StagePlan& s, std::size_t) { return convolutions_text(s); }) +
         (any_dense
              ? row("dense layers", [](const StagePlan& s, std::size_t) { return std::to_string(s.dense); })
              : "") +
         "\n";
}

std::string stall_text(const JobPlan& plan) {
  constexpr double kLittle = 1.02;
  if (plan.stall < kLittle) return "";
  return fmt::format(
      "the first layer reads features that can't be cut into chunks (of neighbours, as attention and input dropout want "
      "them, or sparse or binary ones), and all stages wait for it: an epoch takes about {:.2f} × as long as a pipeline's "
      "(compare strategies graph and granndis)",
      plan.stall);
}

std::string line_of(const std::vector<StagePlan>& stages, const Job& job) {
  if (stages.empty()) return "";
  std::vector<int> convolutions;
  for (const StagePlan& each : stages) convolutions.push_back(each.convolutions);
  std::string text = fmt::format("{} of {} convolutions", counted_text(Index(stages.size()), "stage"),
                                 fmt::join(convolutions, ", "));
  const int slices = find_strategy(job.strategy.kind)->division(job).slices;
  return slices == 0 ? text : fmt::format("{}, {}", text, counted_text(slices, "chunk"));
}

}  // namespace atl
