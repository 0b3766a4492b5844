#include "strategies/gnnpipe/plan.h"

#include <fmt/format.h>
#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "job/strategies.h"
#include "strategies/gnnpipe/info.h"
#include "strategies/gnnpipe/pipeline.h"
#include "strategies/schedule/strategy.h"

namespace atl {
namespace {

StagePlan stage_of(const Model& model, const LayerRange& layers) {
  StagePlan stage;
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

/// The last stage begins when the first one has done S − 1 chunks. Rows travel while stages compute.
void begin_in_turn(const Job& job, JobPlan& plan) {
  const double chunks = pipeline_chunks(job), stretch = (chunks + pipeline_grid(job).stages - 1) / chunks;
  plan.epoch_seconds = 0;
  for (RankPlan& rank : plan.ranks) {
    rank.compute_seconds *= stretch;
    rank.epoch_seconds = std::max(rank.compute_seconds, rank.communication_seconds);
    plan.epoch_seconds = std::max(plan.epoch_seconds, rank.epoch_seconds);
  }
}

/// The longest that evaluation may take. If each chunk reads all others, stages evaluate one after the other.
void evaluate_in_turn(const std::vector<StagePlan>& stages, JobPlan& plan) {
  if (stages.size() < 2) return;
  plan.evaluation_seconds = 0;
  for (const StagePlan& stage : stages) {
    double slowest = 0;
    for (const Rank rank : stage.ranks)
      slowest = std::max(slowest, plan.ranks[std::size_t(rank)].evaluation_seconds);
    plan.evaluation_seconds += slowest;
  }
}

std::shared_ptr<const PlanSection> stages_section(const SectionInput& in, JobPlan& plan) {
  const FeatureShape features = feature_shape(in.job, in.meta);
  const Model model = planned_model(in.job, features, in.meta.classes);
  auto section = std::make_shared<const StagesSection>(in.job, model, features.packed());
  begin_in_turn(in.job, plan);
  evaluate_in_turn(section->stages(), plan);
  return section;
}

}  // namespace

StrategyPlan gnnpipe_plan() {
  return {.kind = "gnnpipe", .section = stages_section};
}

StagesSection::StagesSection(const Job& job, const Model& model, bool packed)
    : stall_(stall_of_whole_layer(job, model, packed)) {
  int begins = -1;  // where the stage before begins
  for (Rank rank = 0; rank < job.placement.ranks; ++rank) {
    const LayerRange layers = model_share_of(job, model, rank).layers;
    if (layers.first != begins) stages_.push_back(stage_of(model, layers));
    stages_.back().ranks.push_back(rank);
    begins = layers.first;
  }
}

std::string StagesSection::text() const {
  const auto row = [&](const std::string& name, auto&& figure) {
    std::string line = fmt::format("  {:<26}", name);
    for (std::size_t i = 0; i < stages_.size(); ++i) line += fmt::format("{:>14}", figure(stages_[i], i));
    return line + "\n";
  };
  const bool any_dense = std::ranges::any_of(stages_, [](const StagePlan& s) { return s.dense > 0; });
  const std::string stall = stall_text();
  return row("layers of each stage",
             [](const StagePlan&, std::size_t i) { return fmt::format("stage {}", i); }) +
         row("on ranks", [](const StagePlan& s, std::size_t) { return ranks_text(s); }) +
         row("convolutions", [](const StagePlan& s, std::size_t) { return convolutions_text(s); }) +
         (any_dense
              ? row("dense layers", [](const StagePlan& s, std::size_t) { return std::to_string(s.dense); })
              : "") +
         "\n" + (stall.empty() ? "" : stall + "\n\n");
}

void StagesSection::enter(nlohmann::ordered_json& plan) const {
  for (const StagePlan& s : stages_)
    plan["stages"].push_back({{"ranks", s.ranks},
                              {"firstConvolution", s.first_convolution},
                              {"convolutions", s.convolutions},
                              {"denseLayers", s.dense}});
  plan["stall"] = stall_;
}

std::vector<std::string> StagesSection::lines(const JobPlan&, const Job& job) const {
  std::vector<int> convolutions;
  for (const StagePlan& each : stages_) convolutions.push_back(each.convolutions);
  std::string stages = fmt::format("{} of {} convolutions", counted_text(Index(stages_.size()), "stage"),
                                   joined(convolutions, ", "));
  const int slices = job.strategy.row->division(job).slices;
  if (slices > 0) stages += ", " + counted_text(slices, "chunk");
  std::vector<std::string> all{stages};
  if (const std::string stall = stall_text(); !stall.empty()) all.push_back("warning: " + stall);
  return all;
}

std::string StagesSection::stall_text() const {
  constexpr double kLittle = 1.02;
  if (stall_ < kLittle) return "";
  return fmt::format(
      "the first layer reads features that can't be cut into chunks (of neighbours, as attention and input dropout want "
      "them, or sparse or binary ones), and all stages wait for it: an epoch takes about {:.2f} × as long as a pipeline's "
      "(compare strategies graph and granndis)",
      stall_);
}

}  // namespace atl
