// The part of a plan for strategy `gnnpipe`: which layers each stage has, and whether stages wait for the
// first one.
#pragma once

#include "model/model.h"
#include "plan/strategy_plan.h"

namespace atl {

/// The layers of one stage of a pipeline.
struct StagePlan {
  std::vector<Rank> ranks;
  int first_convolution = 1, convolutions = 0;  // layers that read neighbours; the first is number 1
  int dense = 0;                                // layers that don't read neighbours
};

class StagesSection final : public PlanSection {
 public:
  /// `packed`: whether features are sparse or binary.
  StagesSection(const Job& job, const Model& model, bool packed);

  std::string text() const override;
  void enter(nlohmann::ordered_json& plan) const override;
  /// One line, as "4 stages of 3, 3, 3, 2 convolutions, 16 chunks".
  std::vector<std::string> lines(const JobPlan& plan, const Job& job) const override;

  /// In the order of stages.
  const std::vector<StagePlan>& stages() const { return stages_; }
  /// See stall_of_whole_layer().
  double stall() const { return stall_; }
  /// What to say where other stages wait for the first stage's first layer; "": none does.
  std::string stall_text() const;

 private:
  std::vector<StagePlan> stages_;
  double stall_ = 1;
};

}  // namespace atl
