// An order of vertices that places neighbours near each other, so that the rows that a sparse product gathers
// are still in cache. Rabbit Order (Arai et al., IPDPS 2016): vertices are merged, from few neighbours to
// many, into the neighbour that gains most modularity. The merges form a hierarchy of communities, and a walk
// through it is the order. On ogbn_arxiv products run as fast as with 512 METIS parts, and the order takes a
// tenth of METIS's time.
#include "graph/transform.h"

#include <algorithm>
#include <numeric>

namespace atl {
namespace {

constexpr VertexId kNone = -1;

/// The state of the merging: a forest of communities, each known by its root, the vertex that the others were
/// merged into.
class Communities {
 public:
  Communities(const CsrView& pattern, std::span<const std::int32_t> group)
      : pattern_(pattern),
        group_(group),
        parent_(std::size_t(pattern.rows)),
        child_(parent_.size(), kNone),
        sibling_(parent_.size(), kNone),
        arcs_(parent_.size()),
        to_(parent_.size(), 0),
        links_(parent_.size()) {
    std::iota(parent_.begin(), parent_.end(), 0);
    for (std::size_t v = 0; v < parent_.size(); ++v) arcs_[v] = double(pattern.degree(Index(v)));
  }

  void merge_all() {
    for (const VertexId v : by_degree()) {
      collect_links(v);
      const VertexId best = best_neighbour(v);
      if (best == kNone) continue;
      parent_[at(v)] = best;
      arcs_[at(best)] += arcs_[at(v)];
      sibling_[at(v)] = child_[at(best)];
      child_[at(best)] = v;
    }
  }

  /// A walk through each tree, from the root down, last merged first.
  std::vector<VertexId> walk() const {
    std::vector<VertexId> order, stack;
    order.reserve(parent_.size());
    for (std::size_t root = 0; root < parent_.size(); ++root) {
      if (parent_[root] != VertexId(root)) continue;
      for (stack.push_back(VertexId(root)); !stack.empty();) {
        const VertexId v = stack.back();
        stack.pop_back();
        order.push_back(v);
        for (VertexId c = child_[at(v)]; c != kNone; c = sibling_[at(c)]) stack.push_back(c);
      }
    }
    return order;
  }

 private:
  struct Link {
    VertexId to;
    float arcs;
  };
  static std::size_t at(VertexId v) { return std::size_t(v); }

  std::vector<VertexId> by_degree() const {
    std::vector<VertexId> order(parent_.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [this](VertexId a, VertexId b) { return pattern_.degree(a) < pattern_.degree(b); });
    return order;
  }

  VertexId root(VertexId v) {
    while (parent_[at(v)] != v) v = parent_[at(v)] = parent_[at(parent_[at(v)])];
    return v;
  }

  /// Fills links_[v] with the arcs from v's community to each other one: v's own, and those of the
  /// communities merged into it, whose lists are then dropped.
  void collect_links(VertexId v) {
    const auto add = [this, v](VertexId neighbour, float arcs) {
      if (!group_.empty() && group_[at(neighbour)] != group_[at(v)]) return;
      const VertexId u = root(neighbour);
      if (u == v) return;
      if (to_[at(u)] == 0) touched_.push_back(u);
      to_[at(u)] += arcs;
    };
    touched_.clear();
    for (const VertexId u : pattern_.row(v)) add(u, 1);
    for (VertexId c = child_[at(v)]; c != kNone; c = sibling_[at(c)]) {
      for (const Link& link : links_[at(c)]) add(link.to, link.arcs);
      std::vector<Link>().swap(links_[at(c)]);
    }
    links_[at(v)].reserve(touched_.size());
    for (const VertexId u : touched_) {
      links_[at(v)].push_back({u, to_[at(u)]});
      to_[at(u)] = 0;
    }
  }

  /// The neighbour with the largest positive gain of modularity, w(u, v) − d(u) d(v) / 2m; the first if
  /// several are equal.
  VertexId best_neighbour(VertexId v) const {
    VertexId best = kNone;
    double best_gain = 0;
    for (const Link& link : links_[at(v)]) {
      const double gain = link.arcs - arcs_[at(link.to)] * arcs_[at(v)] / double(pattern_.arcs());
      if (gain > best_gain) best_gain = gain, best = link.to;
    }
    return best;
  }

  const CsrView pattern_;
  std::span<const std::int32_t> group_;
  std::vector<VertexId> parent_, child_, sibling_;  // (vertices)
  std::vector<double> arcs_;                        // (vertices) of each root's community
  std::vector<float> to_;                           // (vertices) scratch of collect_links, zero between calls
  std::vector<std::vector<Link>> links_;            // (vertices)
  std::vector<VertexId> touched_;
};

}  // namespace

std::vector<VertexId> locality_order(const CsrView& pattern, std::span<const std::int32_t> group) {
  Communities communities(pattern, group);
  communities.merge_all();
  return communities.walk();
}

}  // namespace atl
