// Where servers can stand: nodes with room, and the domains (zones, blocks, racks: node labels) that they lie
// in, as a tree. A level is a label key, level 0 the coarsest; the last level is the node itself.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace atl::ctl {

/// A node that has room.
struct Site {
  std::string node;  // its name
  // by level, coarsest first, without the node; "" where it has no such label
  std::vector<std::string> domains;
  int slots = 0;            // servers of this job that fit there, ≥ 0
  bool takes_first = true;  // server 0 may be one of them

  /// Its domain at a level; of the last level that is the node.
  const std::string& domain_at(int level) const {
    return std::size_t(level) < domains.size() ? domains[std::size_t(level)] : node;
  }
};

struct Domain {
  std::string name;           // of a leaf the node's
  int parent = -1;            // the root's is −1
  int level = -1;             // −1: the root, which is the whole cluster
  int slots = 0;              // of all its nodes
  int room = 0;               // the same before nodes were left out by keeping(): how tight it is
  int first = 0, last = 0;    // its sites are [first, last) of Topology::sites()
  std::vector<int> children;  // by name; empty in a leaf
};

class Topology {
 public:
  /// Every site names as many domains as there are `weights`, less one for the node. weights[l]: cost of a
  /// byte between nodes whose domains differ first at level l; within a node a byte costs nothing. Sites
  /// without slots are left out. Nodes that lack a label count as one domain of their own at that level.
  Topology(std::vector<Site> sites, std::vector<double> weights);

  /// The same with these sites alone (ascending) and at most so many slots a site.
  Topology keeping(const std::vector<int>& sites, int most_slots) const;

  const std::vector<Site>& sites() const { return sites_; }        // ascending by domains, then by node
  const std::vector<Domain>& domains() const { return domains_; }  // the root first, parents before children
  const std::vector<double>& weights() const { return weights_; }
  int levels() const { return int(weights_.size()); }
  /// The domain of a site at a level; at level −1 the root.
  int domain_of(int site, int level) const { return path_[path_index(site, level)]; }
  /// Cost of a byte between two sites.
  double distance(int a, int b) const;

 private:
  void grow(int domain);
  std::size_t path_index(int site, int level) const {
    return std::size_t(site) * (weights_.size() + 1) + std::size_t(level + 1);
  }

  std::vector<Site> sites_;
  std::vector<double> weights_;
  std::vector<Domain> domains_;
  std::vector<int> path_;  // (sites × (levels + 1)): the root, then the domain at each level
};

}  // namespace atl::ctl
