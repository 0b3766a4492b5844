// Cluster-GCN (Chiang et al. 2019): a step trains on a few clusters of vertices and the arcs within and
// between them. Clusters are the parts of the prepared graph; an epoch takes each once, in an order of its
// own.
//
// Degrees count only the arcs that are read, as in the paper. So sums are the subgraph's own, not estimates
// of the whole graph's.
#include <algorithm>

#include "sampler/draw_positions.h"
#include "sampler/kinds/kinds.h"
#include "sampler/subgraph.h"

namespace atl {
namespace {

/// Arcs from vertices of the drawn parts.
class PartArcs final : public KeptArcs {
 public:
  explicit PartArcs(const Owners& owners) : owners_(owners), drawn_(std::size_t(owners.parts()), false) {}
  void clear() { std::fill(drawn_.begin(), drawn_.end(), false); }
  void add(int part) { drawn_[std::size_t(part)] = true; }
  bool has(int part) const { return drawn_[std::size_t(part)]; }
  float stands_for(VertexId, VertexId column, Index) const override {
    return has(owners_.part_of(column)) ? 1.F : 0.F;
  }
  bool weighs() const override { return false; }
  bool induces_degrees() const override { return true; }

 private:
  const Owners& owners_;
  std::vector<bool> drawn_;
};

class Clusters final : public Subgraph {
 public:
  /// By default a tenth of the parts, rounded up, is merged per step.
  explicit Clusters(const SetInput& in)
      : in_(in),
        merged_(in.options.merged > 0 ? in.options.merged : (in.owners.parts() + 9) / 10),
        arcs_(in.owners) {}

  std::int64_t steps() const override { return (in_.owners.parts() + merged_ - 1) / merged_; }
  double size(std::int64_t step) const override {
    Index sum = 0;
    for_each_part(step, [&](int part) { sum += in_.training_by_part[std::size_t(part)]; });
    return double(std::max<Index>(1, sum));
  }
  Index reallocations() const override { return 0; }

 private:
  template <class Visit>
  void for_each_part(std::int64_t step, const Visit& visit) const {
    const Draws draws(in_.seed, Purpose::kBatch, std::uint64_t(step / steps()));
    const KeyedOrder order(std::uint64_t(in_.owners.parts()), draws.key());
    const std::int64_t begin = step % steps() * merged_, end = begin + merged_;
    for (std::int64_t place = begin; place < std::min<std::int64_t>(end, in_.owners.parts()); ++place)
      visit(int(order.at(std::uint64_t(place))));
  }
  void draw_set(std::int64_t step) override {
    arcs_.clear();
    for_each_part(step, [&](int part) { arcs_.add(part); });
  }
  const KeptArcs& arcs() const override { return arcs_; }
  void list_seeds(std::vector<VertexId>& rows) const override {
    for (std::size_t i = 0; i < in_.training.by_part.size(); ++i)
      if (arcs_.has(in_.training.first_part + int(i)))
        rows.insert(rows.end(), in_.training.by_part[i].begin(), in_.training.by_part[i].end());
    std::ranges::sort(rows);
  }

  const SetInput in_;
  const std::int64_t merged_;
  PartArcs arcs_;
};

}  // namespace

std::unique_ptr<StepSets> cluster_sets(const SetInput& in) {
  return std::make_unique<Clusters>(in);
}

}  // namespace atl
