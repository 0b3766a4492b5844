// What one strategy adds to a plan beside what dry runs say of every strategy: one row, in
// strategies/<kind>/plan.cc, which is linked with this folder. A new one is a line in strategy_plans.cc; a
// strategy that adds nothing has none.
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

/// What a plan says of its strategy alone. Immutable.
class PlanSection {
 public:
  virtual ~PlanSection() = default;
  /// For a terminal: lines, with an empty one behind them.
  virtual std::string text() const = 0;
  /// Enters its members into the plan's JSON object.
  virtual void enter(nlohmann::ordered_json& plan) const = 0;
  /// What whoever starts the job is told first; a warning begins with "warning: ".
  virtual std::vector<std::string> lines(const JobPlan& plan, const Job& job) const = 0;
  /// What else frees memory, in the words of its fields, beginning with "; or"; "": nothing.
  virtual std::string memory_advice() const { return ""; }
};

/// What a section is made from.
struct SectionInput {
  const Job& job;
  const DatasetMeta& meta;
  std::span<const DryBatches> batches;  // (ranks), where the strategy trains on batches
};

/// Of one rank that has gone through its batches.
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
  /// Made when all ranks are planned; may change what follows from their plans. Null: there is none.
  std::shared_ptr<const PlanSection> (*section)(const SectionInput&, JobPlan&) = nullptr;
  /// Both of strategies whose ranks hold features by columns (Strategy::columns), and of no others: how
  /// batches and evaluation's slabs go by columns.
  std::unique_ptr<DryColumns> (*columns)(const DryColumnsInput&) = nullptr;
  std::unique_ptr<SlabColumns> (*slab_columns)(const Model&, std::vector<ColumnShare>) = nullptr;
  /// Adds what a rank does beside training on its batches: what it sends, holds and computes. Null: nothing.
  void (*beside)(const BesideInput&, BatchTraffic& sent, DryBatches& out) = nullptr;
};

/// The job's row; an empty one where its strategy adds nothing.
const StrategyPlan& strategy_plan_of(const Job& job);

// One function a strategy, in its plan.cc.
StrategyPlan gnnpipe_plan();
StrategyPlan granndis_plan();
StrategyPlan p3_plan();
StrategyPlan dgs_plan();

}  // namespace atl
