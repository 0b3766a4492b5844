// FastGCN (Chen, Ma & Xiao 2018): a layer reads a few vertices, the same ones for all ranks' batches. They
// are the result of s draws with replacement, by how much the whole graph reads each vertex (p ∝ ‖Â[:, u]‖²).
// If u was drawn t times, an arc from u stands for t / (s·p(u)) arcs, so that sums are unbiased.
//
// A row none of whose neighbours were drawn reads only itself. Vertices that few rows read are drawn seldom,
// and then count much.
#include "sampler/gathered.h"
#include "sampler/kept_arcs.h"
#include "sampler/kinds/kinds.h"
#include "sampler/own_rows.h"

namespace atl {
namespace {

class FastGcn final : public StepSets {
 public:
  explicit FastGcn(const SetInput& in)
      : seed_(in.seed),
        sizes_(in.options.layer_sizes),
        draws_(in.owners, in.comm, column_norms(in)),
        sent_(std::size_t(in.layers)) {
    for (int layer = 0; layer < in.layers; ++layer) sets_.emplace_back(WeighedSet::Options{!in.attention});
  }

  void draw(std::int64_t step, std::span<const VertexId>) override {
    for (std::size_t layer = 0; layer < sets_.size(); ++layer) {
      const Draws draws(seed_, Purpose::kNeighbour, std::uint64_t(step), layer);
      sets_[layer].clear();
      sent_[layer].take(0);
      for (const WeightedDraws::Drawn& each : draws_.draw(draws, sizes_[layer])) {
        sets_[layer].add(each.row, float(each.times / (double(sizes_[layer]) * each.probability)));
        sent_[layer].push(each.row);
      }
    }
  }

  const KeptArcs& of_layer(int layer) const override { return sets_[std::size_t(layer)]; }

  Index reallocations() const override {
    Index sum = draws_.reallocations();
    for (const WeighedSet& set : sets_) sum += set.reallocations();
    for (const auto& rows : sent_) sum += rows.reallocations();
    return sum;
  }

  void count_sent(const Owners& ranks, Sent sent) const override {
    for (const auto& rows : sent_) WeightedDraws::count_sent(rows.span(), ranks, sent);
  }

 private:
  const std::uint64_t seed_;
  const std::vector<Index> sizes_;
  WeightedDraws draws_;
  std::vector<WeighedSet> sets_;          // by layer
  std::vector<Reusable<VertexId>> sent_;  // by layer: the drawn rows
};

}  // namespace

std::unique_ptr<StepSets> fastgcn_sets(const SetInput& in) {
  return std::make_unique<FastGcn>(in);
}

}  // namespace atl
