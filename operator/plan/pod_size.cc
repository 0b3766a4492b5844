#include "operator/plan/pod_size.h"

#include <fmt/format.h>
#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <utility>

#include "job/job.h"
#include "job/strategies.h"
#include "operator/plan/room.h"

namespace atl::ctl {
namespace {

/// What one domain, or the cluster, would have if its nodes were empty.
struct EmptyDomain {
  std::int64_t slots = 0;      // server 0 may be there
  bool takes_first = false;    // server 0 may be one of them
  const NodeState* node = {};  // the first node on which a server fits
};

/// A node of those that could hold the whole gang if they were empty; null if there are none.
const NodeState* node_of_holders(const Gang& gang, const Room& room) {
  std::map<std::vector<std::string_view>, EmptyDomain> domains;
  const std::vector<Site> sites = room.sites(true);
  for (std::size_t i = 0; i < sites.size(); ++i) {
    if (sites[i].slots == 0) continue;
    std::vector<std::string_view> name;
    for (int level = 0; level <= gang.within; ++level) name.push_back(sites[i].domain_at(level));
    EmptyDomain& domain = domains[name];
    domain.slots += sites[i].slots;
    domain.takes_first |= sites[i].takes_first;
    if (!domain.node) domain.node = room.usable()[i].node;
  }
  for (const auto& [name, domain] : domains)
    if (domain.takes_first && domain.slots >= std::ssize(gang.servers)) return domain.node;
  return nullptr;
}

/// "8 ranks in 2 pods of 4"
std::string pods_text(const Gang& gang) {
  const std::size_t pods = gang.servers.size(), each = gang.servers[0].size();
  return fmt::format("{} ranks in {} pod{}{}", pods * each, pods, pods == 1 ? "" : "s",
                     pods == 1 || each == 1 ? "" : fmt::format(" of {}", each));
}

}  // namespace

bool leaves_pod_size_open(const Job& job, const std::string& gpu) {
  return job.resources.gpus > 0 && job.placement.ranks > 1 && job.placement.ranks_per_server == 0 &&
         !gpu.starts_with(kMigSlices) && !has_own_servers(job);
}

std::vector<int> pod_sizes(int ranks) {
  std::vector<int> sizes;
  for (int size = ranks; size >= 1; --size)
    if (ranks % size == 0) sizes.push_back(size);
  return sizes;
}

std::optional<PodSize> largest_pods(const std::vector<Gang>& ways, const Snapshot& snapshot,
                                    const std::string& gpu) {
  const Gang* larger = nullptr;  // the way tried before, with larger pods
  for (const Gang& way : ways) {
    if (const NodeState* node = node_of_holders(way, Room(way, snapshot))) {
      const std::int64_t gpus = node->allocatable.of(gpu);
      std::string reason = fmt::format("{}: node {} has {} {}", pods_text(way), node->name, gpus, gpu);
      if (larger && larger->server.of(gpu) <= gpus)
        reason +=
            fmt::format("; even if all nodes were empty there would be no room for {}", demand_text(*larger));
      return PodSize{int(way.servers[0].size()), std::move(reason)};
    }
    larger = &way;
  }
  return {};
}

std::string text_of_split_node(const Job& job, const Gang& gang, const GangPlan& plan,
                               const std::string& gpu) {
  if (job.resources.gpus == 0 || gpu.starts_with(kMigSlices)) return {};
  std::map<std::string, int> ranks;
  const std::string* shared = nullptr;
  for (std::size_t s = 0; s < plan.nodes.size(); ++s) {
    const int before =
        std::exchange(ranks[plan.nodes[s]], ranks[plan.nodes[s]] + int(gang.servers[s].size()));
    if (before > 0 && !shared) shared = &plan.nodes[s];
  }
  if (!shared) return {};
  int together = 0;  // ranks of the largest equal pods that the same nodes could hold
  for (const auto& [node, count] : ranks) together = std::gcd(together, count);
  return fmt::format(
      "{} has several of the pods, whose GPUs exchange through the network and not by NVLink: {}", *shared,
      together > std::ssize(gang.servers[0])
          ? fmt::format("placement.ranksPerServer: {} puts so many ranks into one pod", together)
          : fmt::format("{} ranks can't be divided among larger pods on these nodes (use a multiple of a "
                        "node's GPUs)",
                        job.placement.ranks));
}

}  // namespace atl::ctl
