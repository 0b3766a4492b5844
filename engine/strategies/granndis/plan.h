// The part of a plan for strategy `granndis`: what the ranks of each server hold together, including copies
// of other servers' vertices.
#pragma once

#include "plan/strategy_plan.h"

namespace atl {

/// What the ranks of a server hold together.
struct ServerPlan {
  std::vector<Rank> ranks;
  // For the largest batch, where there are several:
  Index own = 0, copies = 0;     // own vertices, and copies of others
  Index arcs = 0;                // arcs that training sees
  Index bytes = 0;               // as RankMemory::held()
  std::vector<Index> batches{};  // what each batch takes of `bytes`; empty: there is one batch
  // for each layer that reads neighbours, from the first: how many vertices it computes
  std::vector<Index> computed;
  double share_of_copies() const { return double(copies) / double(std::max<Index>(own + copies, 1)); }
};

class ServersSection final : public PlanSection {
 public:
  ServersSection(const Job& job, const std::vector<RankPlan>& ranks);

  std::string text() const override;
  void enter(nlohmann::ordered_json& plan) const override;
  /// One line per server.
  std::vector<std::string> lines(const JobPlan& plan, const Job& job) const override;
  std::string memory_advice() const override;

  const std::vector<ServerPlan>& servers() const { return servers_; }

 private:
  std::vector<ServerPlan> servers_;
};

}  // namespace atl
