#include "command/job_on_topology.h"

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

std::vector<std::string> servers_of(const Topology& topology, const Job& job) {
  const std::size_t each = topology.servers.front().ranks.size();
  const bool equal =
      std::ranges::all_of(topology.servers, [&](const auto& s) { return s.ranks.size() == each; });
  const int given = job.placement.ranks_per_server;
  if (given > 0 && equal && std::size_t(given) != each)
    fail("placement.ranksPerServer: {} is not what {}'s servers have (use {}, or leave it out)", given,
         topology.name, each);
  if (!equal || each == 1 || given > 0) return {};
  return {fmt::format("placement.ranksPerServer={}", each)};
}

}  // namespace

LoadedJob job_on(const Topology& topology, const Arguments& arguments, const std::string& change, Say say) {
  Arguments changed = arguments;
  changed.add("--ranks", std::to_string(topology.ranks()));
  if (!change.empty()) changed.add("--set", change);
  const LoadedJob loaded = load_job_of(changed, say);
  for (const std::string& servers : servers_of(topology, loaded.job)) changed.add("--set", servers);
  return load_job_of(changed, [](const std::string&) {});
}

}  // namespace atl
