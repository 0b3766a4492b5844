// What a plan says of strategy `granndis`: what the ranks of each server hold together, copies of other
// servers' vertices among it.
#pragma once

#include "plan/strategy_plan.h"

namespace atl {

/// What the ranks of a server hold together.
struct ServerPlan {
  std::vector<Rank> ranks;
  // Of the largest batch, where there are several:
  Index own = 0, copies = 0;     // vertices, and copies of others
  Index arcs = 0;                // that training sees
  Index bytes = 0;               // RankMemory::held()
  std::vector<Index> batches{};  // of it what each batch takes; empty: it trains on all its vertices at once
  // vertices that each layer computes which reads neighbours, the first layer first
  std::vector<Index> computed;
  double share_of_copies() const { return double(copies) / double(std::max<Index>(own + copies, 1)); }
};

class ServersSection final : public PlanSection {
 public:
  ServersSection(const Job& job, const std::vector<RankPlan>& ranks);

  std::string text() const override;
  void enter(nlohmann::ordered_json& plan) const override;
  /// One a server.
  std::vector<std::string> lines(const JobPlan& plan, const Job& job) const override;
  std::string memory_advice() const override;

  const std::vector<ServerPlan>& servers() const { return servers_; }

 private:
  std::vector<ServerPlan> servers_;
};

}  // namespace atl
