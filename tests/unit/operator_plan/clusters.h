// Clusters and jobs for the tests of placement, made from a seed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "operator/plan/placement.h"

namespace atl::ctl {

inline const std::vector<double> kWeights = {100, 10, 1};  // zone, rack, node

/// The text stays as long as the program.
inline std::string_view numbered(const char* what, int number) {
  static std::set<std::string> texts;
  return *texts.insert(what + std::string(number < 10 ? "0" : "") + std::to_string(number)).first;
}

/// As numbered(): the names of a node's zone and rack.
inline std::span<const std::string_view> domains(int zone, int rack) {
  static std::map<std::pair<int, int>, std::array<std::string_view, 2>> all;
  return all.try_emplace({zone, rack}, std::array{numbered("z", zone), numbered("r", rack)}).first->second;
}

/// Zones × racks × nodes, each node with so many slots.
inline std::vector<Site> even_cluster(int zones, int racks, int nodes, int slots) {
  std::vector<Site> sites;
  for (int z = 0; z < zones; ++z)
    for (int r = 0; r < racks; ++r)
      for (int n = 0; n < nodes; ++n)
        sites.push_back({numbered("n", int(sites.size())), domains(z, z * racks + r), slots});
  return sites;
}

/// Others take each slot with probability `taken`; at least `need` stay free.
inline std::vector<Site> fragmented(std::vector<Site> sites, double taken, int need, std::mt19937& random) {
  int free = 0;
  for (Site& site : sites) {
    for (int s = site.slots; s-- > 0;) site.slots -= std::bernoulli_distribution(taken)(random);
    free += site.slots;
  }
  for (std::size_t s = 0; free < need; s = (s + 1) % sites.size(), ++free) ++sites[s].slots;
  return sites;
}

/// Parts of a graph in a plane that talk across their borders, as METIS leaves them: each has about six
/// neighbours, and talks more to nearer ones. Numbers are shuffled, so near parts don't have near numbers.
inline std::vector<PairBytes> planar_cut(int servers, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::pair<double, double>> at;
  for (int s = 0; s < servers; ++s) at.emplace_back(unit(random), unit(random));
  const double reach = std::sqrt(2.5 / servers);
  std::vector<PairBytes> flows;
  for (int a = 0; a < servers; ++a)
    for (int b = a + 1; b < servers; ++b) {
      const double distance = std::hypot(at[a].first - at[b].first, at[a].second - at[b].second);
      if (distance < reach) flows.push_back({a, b, std::ceil(1e6 * (1.1 - distance / reach))});
    }
  return flows;
}

/// Groups that talk a thousand times as much inside as between, with shuffled numbers.
inline std::vector<PairBytes> blocks(int servers, int block, std::mt19937& random) {
  std::vector<int> number(static_cast<std::size_t>(servers));
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), random);
  std::vector<PairBytes> flows;
  for (int a = 0; a < servers; ++a)
    for (int b = a + 1; b < servers; ++b)
      flows.push_back({number[a], number[b], a / block == b / block ? 1e6 : 1e3});
  return flows;
}

/// Everybody talks to everybody, and more to those that lie near in a plane.
inline std::vector<PairBytes> dense(int servers, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<std::pair<double, double>> at;
  for (int s = 0; s < servers; ++s) at.emplace_back(unit(random), unit(random));
  std::vector<PairBytes> flows;
  for (int a = 0; a < servers; ++a)
    for (int b = a + 1; b < servers; ++b) {
      const double distance = std::hypot(at[a].first - at[b].first, at[a].second - at[b].second);
      flows.push_back({a, b, std::ceil(1e5 * unit(random) / (distance * distance + 0.01))});
    }
  return flows;
}

/// Parts of a graph with hubs, as METIS leaves them: a few parts talk to nearly all, most to their community
/// and to hubs.
inline std::vector<PairBytes> power_law(int servers, std::mt19937& random) {
  std::uniform_real_distribution<double> unit(0, 1);
  std::vector<double> activity;
  for (int s = 0; s < servers; ++s) activity.push_back(std::pow(1 - unit(random), -0.7));
  std::vector<int> community;
  for (int s = 0; s < servers; ++s) community.push_back(int(random() % (unsigned(servers) / 16 + 1)));
  std::vector<PairBytes> flows;
  for (int a = 0; a < servers; ++a)
    for (int b = a + 1; b < servers; ++b) {
      const double strength = activity[a] * activity[b] * (community[a] == community[b] ? 8 : 1);
      if (unit(random) < strength / 24) flows.push_back({a, b, std::ceil(1e4 * strength * unit(random))});
    }
  return flows;
}

}  // namespace atl::ctl
