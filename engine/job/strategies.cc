#include "job/strategies.h"

#include <algorithm>

namespace atl {
namespace {

std::deque<StrategyInfo>& table() {
  static std::deque<StrategyInfo> infos{
      graph_strategy(),  pipegcn_strategy(),   bns_strategy(),     cagnet_strategy(),
      sancus_strategy(), minibatch_strategy(), gnnpipe_strategy(), granndis_strategy(),
      p3_strategy(),     dgs_strategy(),       auto_strategy(),
  };
  return infos;
}

}  // namespace

const std::deque<StrategyInfo>& strategy_infos() {
  return table();
}

const StrategyInfo& default_strategy() {
  return table().front();
}

void add_strategy(StrategyInfo info) {
  table().push_back(std::move(info));
}

const StrategyInfo* find_strategy(const std::string& kind) {
  for (const auto& info : strategy_infos()) {
    if (info.kind == kind) return &info;
  }
  return nullptr;
}

bool has_block(const StrategyInfo& strategy) {
  const std::string block = "strategy." + strategy.kind + ".";
  return std::ranges::all_of(strategy.options,
                             [&](const Field& option) { return option.path.starts_with(block); });
}

const StrategyInfo* strategy_with_option(const std::string& path) {
  for (const StrategyInfo& info : strategy_infos())
    if (std::ranges::find(info.options, path, &Field::path) != info.options.end()) return &info;
  return nullptr;
}

bool has_own_servers(const Job& job) {
  const StrategyInfo& strategy = *job.strategy.row;
  Job apart = job, together = job;
  apart.placement.ranks_per_server = 0;
  together.placement.ranks_per_server = job.placement.ranks;
  const Layout layout = strategy.layout(apart);
  const bool is_any_together =
      std::ranges::any_of(layout.groups, [](const auto& group) { return group.size() > 1; });
  const JobDivision a = strategy.division(apart), b = strategy.division(together);
  return is_any_together || !layout.holds.empty() || a.parts != b.parts || a.servers != b.servers ||
         a.slices != b.slices || a.pieces != b.pieces;
}

std::string option_of_strategy(const StrategyInfo& owner) {
  return "is an option of strategy " + owner.kind + " (remove it)";
}

std::string block_of_another(const std::string& chosen) {
  return "strategy.kind is " + chosen + ", and this block is of another strategy (remove it)";
}

}  // namespace atl
