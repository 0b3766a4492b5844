#include "job/strategies.h"

namespace atl {
namespace {

/// A strategy that is named in the manifest and not built yet.
StrategyInfo named(std::string kind, std::string description, std::string source) {
  return {.kind = std::move(kind), .description = std::move(description), .source = std::move(source)};
}

/// The table.
std::vector<StrategyInfo>& table() {
  static std::vector<StrategyInfo> infos{
      graph_strategy(),
      pipegcn_strategy(),
      bns_strategy(),
      cagnet_strategy(),
      sancus_strategy(),
      minibatch_strategy(),
      gnnpipe_strategy(),
      granndis_strategy(),
      p3_strategy(),
      dgs_strategy(),
      named("auto", "the strategy with the least predicted time", ""),
  };
  return infos;
}

}  // namespace

const std::vector<StrategyInfo>& strategy_infos() {
  return table();
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

std::string only_one_block(const std::string& chosen) {
  return "strategy.kind is " + chosen + ", so strategy." + chosen +
         " is the only block allowed (remove this one)";
}

}  // namespace atl
