// What one strategy adds to a plan beside the results of dry runs: a row of functions in
// strategies/<kind>/plan.cc, which is linked with this folder, and a line in strategy_plans.cc. A strategy
// that adds nothing has neither.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <memory>
#include <string>
#include <vector>

#include "plan/dry_batches.h"
#include "plan/dry_columns.h"
#include "plan/dry_inference.h"
#include "plan/job_plan.h"

namespace atl {

/// The section of a plan that is about its strategy alone. Immutable.
class PlanSection {
 public:
  virtual ~PlanSection() = default;
  /// Lines for a terminal, with an empty line at the end.
  virtual std::string text() const = 0;
  /// Enters its members into the plan's JSON object.
  virtual void enter(nlohmann::ordered_json& plan) const = 0;
  /// Lines that are shown first to the user who starts the job; a warning begins with "warning: ".
  virtual std::vector<std::string> lines(const JobPlan& plan, const Job& job) const = 0;
  /// Further ways to free memory, each named by its field; the text begins with "; or". "": there are none.
  virtual std::string memory_advice() const { return ""; }
};

/// Input of a section.
struct SectionInput {
  const Job& job;
  const DatasetMeta& meta;
  std::span<const DryBatches> batches;  // (ranks), where the strategy trains on batches
};

/// Input of StrategyPlan::beside: one rank that has gone through its batches.
struct BesideInput {
  const Job& job;
  const BatchSource& source;
  const Owners& owners;
  Rank rank;
  const FeatureShape& features;
  Index classes;
};

struct StrategyPlan {
  std::string kind;
  /// Called once all ranks are planned; may change figures that follow from their plans. Null: no section.
  std::shared_ptr<const PlanSection> (*section)(const SectionInput&, JobPlan&) = nullptr;
  /// How batches and evaluation's slabs are planned by columns. Set by strategies whose ranks hold features
  /// by columns (DataShare::columns), and by no others.
  std::unique_ptr<DryColumns> (*columns)(const DryColumnsInput&) = nullptr;
  std::unique_ptr<SlabColumns> (*slab_columns)(const Model&, std::vector<ColumnShare>) = nullptr;
  /// Adds what a rank sends, holds and computes beside training on its batches. Null: nothing.
  void (*beside)(const BesideInput&, BatchTraffic& sent, DryBatches& out) = nullptr;
};

/// The row of the job's strategy; an empty row if the strategy adds nothing to plans.
const StrategyPlan& strategy_plan_of(const Job& job);

// One function per strategy, in its plan.cc.
StrategyPlan gnnpipe_plan();
StrategyPlan granndis_plan();
StrategyPlan p3_plan();
StrategyPlan dgs_plan();
StrategyPlan minibatch_plan();

}  // namespace atl
