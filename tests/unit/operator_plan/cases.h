// Large questions of placement, made from seeds: too large for the exhaustive search, so their answers are
// compared with stored ones (tests/data/placement_costs.json).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "operator_plan/clusters.h"

namespace atl::ctl {

struct Case {
  std::string name;
  Topology topology;  // the present room …
  Topology empty;     // … and that of empty nodes
  Traffic traffic;
  int within = -1;
};

/// A thousand nodes: in 50 racks, with one slot each, of which 30 % are taken; or in 63 racks, with four
/// slots, 70 % taken.
inline std::vector<Case> large_cases(int servers) {
  std::vector<Case> cases;
  for (const bool has_four : {false, true}) {
    std::mt19937 random(unsigned(17 + servers + has_four));
    const auto empty = has_four ? even_cluster(3, 21, 16, 4) : even_cluster(5, 10, 20, 1);
    const auto sites = fragmented(empty, has_four ? 0.7 : 0.3, servers, random);
    const auto add = [&](const std::string& kind, const std::vector<PairBytes>& flows) {
      cases.push_back({std::to_string(servers) + " servers, " + kind +
                           (has_four ? ", four slots a node" : ", one slot a node"),
                       Topology(sites, kWeights), Topology(empty, kWeights), Traffic(servers, flows)});
    };
    add("dense", dense(servers, random));
    add("sparse", planar_cut(servers, random));
    add("power law", power_law(servers, random));
  }
  return cases;
}

/// Eight servers among racks of 16 nodes, three jobs to a seed.
struct Racks {
  int zones = 3;  // of 21 racks
  int slots = 1;  // of a node
  double taken = 0;
  int within = -1;
};

inline std::vector<Case> small_cases(const Racks& racks, int seeds) {
  std::vector<Case> cases;
  for (int seed = 0; seed < seeds; ++seed) {
    std::mt19937 random{unsigned(1000 + seed)};
    const auto empty = even_cluster(racks.zones, 21, 16, racks.slots);
    const auto sites = fragmented(empty, racks.taken, 8, random);
    const auto add = [&](const std::string& kind, const std::vector<PairBytes>& flows) {
      cases.push_back({kind + ", seed " + std::to_string(seed), Topology(sites, kWeights),
                       Topology(empty, kWeights), Traffic(8, flows), racks.within});
    };
    add("dense", dense(8, random));
    add("sparse", planar_cut(8, random));
    add("power law", power_law(8, random));
  }
  return cases;
}

}  // namespace atl::ctl
