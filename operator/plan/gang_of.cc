// What a manifest's job needs of a cluster.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "job/strategies.h"
#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

constexpr char kHostname[] = "kubernetes.io/hostname";
constexpr double kTenfold =
    10;  // a level costs so many times the one below it unless the manifest says otherwise

std::string full_name(const Job& job) {
  const auto metadata = nlohmann::json::parse(job.metadata.empty() ? "{}" : job.metadata);
  return metadata.value("namespace", "default") + "/" + job.name;
}

/// Of one pod of so many ranks.
Resources server_demand(const ResourcesSpec& rank, int ranks, const std::string& gpu) {
  Resources demand;
  if (rank.cpu > 0) demand.add("cpu", rank.cpu * ranks);
  if (rank.memory > 0) demand.add("memory", double(rank.memory) * ranks);
  if (rank.gpus > 0) demand.add(gpu, double(rank.gpus) * ranks);
  demand.add("pods", 1.0);
  return demand;
}

/// It runs mpirun, and no rank.
Resources launcher_demand() {
  Resources demand;
  demand.add("cpu", "100m");
  demand.add("memory", "128Mi");
  demand.add("pods", 1.0);
  return demand;
}

void set_levels(const PlacementSpec& placement, Gang& gang) {
  gang.levels = placement.topology_levels;
  gang.weights = placement.level_weights;
  if (gang.weights.empty()) {
    gang.weights.assign(gang.levels.size(), 1);
    for (std::size_t level = gang.levels.size(); level-- > 1;)
      gang.weights[level - 1] = gang.weights[level] * kTenfold;
  }
  if (gang.levels.empty() || gang.levels.back() != kHostname) {
    const double finest = gang.weights.empty() ? kTenfold : gang.weights.back();
    gang.levels.emplace_back(kHostname);
    gang.weights.push_back(finest / kTenfold);
  }
  const auto within = std::ranges::find(gang.levels, placement.within);
  if (within != gang.levels.end()) gang.within = int(within - gang.levels.begin());
}

}  // namespace

NodeFilter filter_of(const Job& job, const std::string& gpu) {
  NodeFilter filter = NodeFilter::of_template(job.template_);
  if (job.resources.gpus > 0)
    filter.tolerations.push_back({.key = gpu, .comparison = "Exists", .value = {}, .effect = "NoSchedule"});
  return filter;
}

Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows, const std::string& gpu) {
  const StrategyInfo* strategy = find_strategy(job.strategy.kind);
  ATOLL_CHECK(strategy && strategy->layout, "strategy {} has no layout", job.strategy.kind);
  const Layout layout = strategy->layout(job);
  Gang gang;
  gang.job = full_name(job);
  gang.servers = layout.groups;
  gang.holds = layout.holds;
  std::size_t most = 0;
  for (const auto& ranks : layout.groups) most = std::max(most, ranks.size());
  gang.server = server_demand(job.resources, int(most), gpu);
  gang.launcher = launcher_demand();
  gang.assumed = !flows;
  const int servers = int(layout.groups.size());
  gang.traffic = flows ? Traffic(servers, between_groups(layout, *flows)) : Traffic::uniform(servers, 1);
  gang.filter = filter_of(job, gpu);
  gang.volumes = volumes_of(job);
  set_levels(job.placement, gang);
  return gang;
}

}  // namespace atl::ctl
