// Places for servers: nodes with room, and the tree of domains that contain them (zones, blocks, racks:
// values of node labels). A level is a label key. Level 0 is the coarsest, and the last level is the node
// itself.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

namespace atl::ctl {

/// A node that has room. Its names belong to others, who must outlive it: copies of thousands of nodes' names
/// would take a third of a plan's time.
struct Site {
  std::string_view node;  // the node's name
  // by level, coarsest first, without the node; "" where the node has no such label
  std::span<const std::string_view> domains;
  int slots = 0;            // servers of this job that fit on the node, ≥ 0
  bool takes_first = true;  // server 0 may be on the node

  /// The site's domain at a level; at the last level, the node.
  std::string_view domain_at(int level) const {
    return std::size_t(level) < domains.size() ? domains[std::size_t(level)] : node;
  }
};

struct Domain {
  std::string_view name;      // a leaf has the node's name
  int parent = -1;            // −1: none, it is the root
  int level = -1;             // −1: the root, which is the whole cluster
  int slots = 0;              // slots of all its nodes together
  int room = 0;               // `slots` before keeping() dropped sites: how tight it is
  int first = 0, last = 0;    // its sites are [first, last) in Topology::sites()
  std::vector<int> children;  // by name; empty in a leaf
};

class Topology {
 public:
  /// weights[l] is the cost of a byte between nodes whose domains first differ at level l. Within a node a
  /// byte costs nothing. Every site must name one domain less than there are weights, because the node is the
  /// last level. Sites without slots are left out. At each level, nodes without its label form one domain.
  Topology(std::vector<Site> sites, std::vector<double> weights);

  /// The topology with only these sites (in ascending order), and at most `most_slots` slots per site.
  Topology keeping(const std::vector<int>& sites, int most_slots) const;

  const std::vector<Site>& sites() const { return sites_; }        // ascending by domains, then by node
  const std::vector<Domain>& domains() const { return domains_; }  // the root first, parents before children
  const std::vector<double>& weights() const { return weights_; }
  int levels() const { return int(weights_.size()); }
  /// The domain of a site at a level; at level −1 it is the root.
  int domain_of(int site, int level) const { return path_[path_index(site, level)]; }
  /// Cost of a byte between two sites.
  double distance(int a, int b) const {
    const int *path_a = &path_[path_index(a, 0)], *path_b = &path_[path_index(b, 0)];
    for (std::size_t level = 0; level < weights_.size(); ++level)
      if (path_a[level] != path_b[level]) return weights_[level];
    return 0;
  }

 private:
  void grow(int domain);
  std::size_t path_index(int site, int level) const {
    return std::size_t(site) * (weights_.size() + 1) + std::size_t(level + 1);
  }

  std::vector<Site> sites_;
  std::vector<double> weights_;
  std::vector<Domain> domains_;
  std::vector<int> path_;  // (sites × (levels + 1)): the root, then each level's domain
};

}  // namespace atl::ctl
