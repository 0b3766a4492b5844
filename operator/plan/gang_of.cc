// Computes from a manifest what the job needs of a cluster.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "job/strategies.h"
#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

/// The weight of a level is this many times that of the next finer one, unless the manifest says otherwise.
constexpr double kTenfold = 10;

std::string full_name(const Job& job) {
  const auto metadata = parse_json(job.metadata.empty() ? "{}" : job.metadata);
  return metadata.value("namespace", "default") + "/" + job.name;
}

/// The demand of one pod with `ranks` ranks.
Resources server_demand(const ResourcesSpec& rank, int ranks, const std::string& gpu) {
  Resources demand;
  if (rank.cpu > 0) demand.add("cpu", rank.cpu * ranks);
  if (rank.memory > 0) demand.add("memory", double(rank.memory) * ranks);
  if (rank.gpus > 0) demand.add(gpu, double(rank.gpus) * ranks);
  demand.add("pods", 1.0);
  return demand;
}

/// The launcher runs mpirun, and no rank.
Resources launcher_demand(std::size_t servers) {
  Resources demand;
  demand.add("cpu", "100m");
  demand.add("memory", double(launcher_memory(servers).requested));
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
  if (gang.levels.empty() || gang.levels.back() != kHostnameLabel) {
    const double finest = gang.weights.empty() ? kTenfold : gang.weights.back();
    gang.levels.emplace_back(kHostnameLabel);
    gang.weights.push_back(finest / kTenfold);
  }
  const auto within = std::ranges::find(gang.levels, placement.within);
  if (within != gang.levels.end()) gang.within = int(within - gang.levels.begin());
}

}  // namespace

int Gang::most_on(const std::string& node) const {
  if (!assigned) return std::numeric_limits<int>::max();
  const auto found = assigned->find(node);
  return found == assigned->end() ? 0 : found->second;
}

std::set<std::string> gpu_taints(const std::string& gpu) {
  return {kGpuResource, gpu};
}

NodeFilter filter_of(const Job& job, const std::string& gpu) {
  NodeFilter filter = NodeFilter::of_template(job.template_);
  if (job.resources.gpus > 0)
    for (const std::string& key : gpu_taints(gpu))
      filter.tolerations.push_back({.key = key, .comparison = "Exists", .value = {}, .effect = "NoSchedule"});
  return filter;
}

Gang gang_of(const Job& job, const std::optional<std::vector<PairBytes>>& flows, const std::string& gpu) {
  const StrategyInfo& strategy = *job.strategy.row;
  ATOLL_CHECK(strategy.layout, "strategy {} has no layout", strategy.kind);
  const Layout layout = strategy.layout(job);
  Gang gang;
  gang.job = full_name(job);
  gang.servers = layout.groups;
  gang.holds = layout.holds;
  std::size_t most = 0;
  for (const auto& ranks : layout.groups) most = std::max(most, ranks.size());
  gang.server = server_demand(job.resources, int(most), gpu);
  gang.launcher = launcher_demand(layout.groups.size());
  gang.assumed = !flows;
  const int servers = int(layout.groups.size());
  gang.traffic = flows ? Traffic(servers, between_groups(layout, *flows)) : Traffic::uniform(servers, 1);
  gang.filter = filter_of(job, gpu);
  gang.volumes = volumes_of(job);
  set_levels(job.placement, gang);
  return gang;
}

}  // namespace atl::ctl
