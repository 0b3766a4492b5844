// What a plan says of strategy `minibatch` alone: how much memory a file of sums would spare.
#include <algorithm>

#include "base/text.h"
#include "job/samplers.h"
#include "plan/strategy_plan.h"

namespace atl {
namespace {

class SumsSection final : public PlanSection {
 public:
  explicit SumsSection(Index sums) : sums_(sums) {}

  std::string text() const override { return ""; }
  void enter(nlohmann::ordered_json& /*plan*/) const override {}
  std::vector<std::string> lines(const JobPlan& /*plan*/, const Job& /*job*/) const override { return {}; }
  std::string memory_advice() const override {
    return "; or strategy.minibatch.sumsFolder, a folder on a disk: sums are " + bytes_text(double(sums_)) +
           " of a rank's memory, and lie there in a file instead";
  }

 private:
  const Index sums_;  // bytes, of the rank that holds the most
};

/// Null where no rank holds sums that a file could hold instead.
std::shared_ptr<const PlanSection> section(const SectionInput& in, JobPlan&) {
  if (in.job.resources.gpus > 0 || !sums_folder(in.job).empty()) return nullptr;
  Index most = 0;
  for (const DryBatches& each : in.batches) most = std::max(most, each.sums);
  return most > 0 ? std::make_shared<SumsSection>(most) : nullptr;
}

}  // namespace

StrategyPlan minibatch_plan() {
  return {.kind = "minibatch", .section = section};
}

}  // namespace atl
