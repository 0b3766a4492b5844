// Large questions of placement, made from seeds: too large for the exhaustive search, so their answers are
// compared with stored ones (tests/data/placement_costs.json).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "operator_plan/clusters.h"

namespace atl::ctl {

struct Case {
  std::string name;
  Topology topology;
  Traffic traffic;
  int within = -1;
};

/// A thousand nodes of one slot, 30 % of them taken, or of four slots, 70 % of which are.
inline std::vector<Site> thousand_nodes(bool wide, int need, std::mt19937& random) {
  return wide ? fragmented(even_cluster(3, 21, 16, 4), 0.7, need, random)
              : fragmented(even_cluster(5, 10, 20, 1), 0.3, need, random);
}

inline void for_each_traffic(
    int servers, std::mt19937& random,
    const std::function<void(const std::string&, const std::vector<PairBytes>&)>& visit) {
  visit("dense", dense(servers, random));
  visit("sparse", planar_cut(servers, random));
  visit("power law", power_law(servers, random));
}

/// `only`: so many servers.
inline std::vector<Case> large_cases(int only) {
  std::vector<Case> cases;
  for (const bool wide : {false, true}) {
    std::mt19937 random(unsigned(17 + only + wide));
    const auto sites = thousand_nodes(wide, only, random);
    for_each_traffic(only, random, [&](const std::string& kind, const std::vector<PairBytes>& flows) {
      const std::string name =
          std::to_string(only) + " servers, " + kind + (wide ? ", four slots a node" : ", one slot a node");
      cases.push_back({name, Topology(sites, kWeights), Traffic(only, flows)});
    });
  }
  return cases;
}

/// Eight servers among racks of 16 nodes with so many slots, of which others have taken a part.
inline std::vector<Case> small_cases(int zones, int slots, double taken, int seeds, int within) {
  std::vector<Case> cases;
  for (int seed = 0; seed < seeds; ++seed) {
    std::mt19937 random{unsigned(1000 + seed)};
    const auto sites = fragmented(even_cluster(zones, 21, 16, slots), taken, 8, random);
    for_each_traffic(8, random, [&](const std::string& kind, const std::vector<PairBytes>& flows) {
      const std::string name = "8 servers, " + kind + ", " + std::to_string(zones * 21) + " racks, " +
                               std::to_string(slots) + " slots, " + std::to_string(int(100 * taken)) +
                               " % taken" + (within >= 0 ? ", within a rack" : "") + ", seed " +
                               std::to_string(seed);
      cases.push_back({name, Topology(sites, kWeights), Traffic(8, flows), within});
    });
  }
  return cases;
}

}  // namespace atl::ctl
