// GraphSAINT's vertex sampler: vertices are drawn with replacement, by how much the graph reads each (p ∝
// ‖Â[:, u]‖²). The probabilities of a vertex and of a pair have a closed form.
#include <algorithm>

#include "sampler/gathered.h"
#include "sampler/kinds/kinds.h"
#include "sampler/own_rows.h"
#include "sampler/subgraph.h"

namespace atl {
namespace {

class SaintVertices final : public Subgraph {
 public:
  explicit SaintVertices(const SetInput& in)
      : seed_(in.seed),
        vertices_(in.vertices()),
        count_(in.options.draws),
        draws_(in.owners, in.comm, column_norms(in)),
        marks_(in),
        read_(sum_over_parts(in, [&](VertexId row) { return presence(row); })),
        losses_(in, [&](VertexId row) { return presence(row); }),
        arcs_(count_, !in.attention) {}

  std::int64_t steps() const override { return steps_to_read(vertices_, read_); }
  double size(std::int64_t) const override { return losses_.expected(); }
  void weigh(std::span<const VertexId> rows, Reusable<Real>& weights) const override {
    const auto to = weights.take(Index(rows.size()));
    std::ranges::transform(rows, to.begin(), [&](VertexId row) { return losses_.weight(presence(row)); });
  }
  Index reallocations() const override { return draws_.reallocations() + arcs_.reallocations(); }
  void count_sent(const Owners& ranks, Sent sent) const override {
    WeightedDraws::count_sent(arcs_.rows(), ranks, sent);
  }

 private:
  double presence(VertexId row) const { return presence_of(draws_.probability(row), count_); }
  void draw_set(std::int64_t step) override {
    arcs_.clear();
    for (const WeightedDraws::Drawn& each :
         draws_.draw(Draws(seed_, Purpose::kNeighbour, std::uint64_t(step)), count_))
      arcs_.add(each.row, {each.probability, 0});
  }
  const KeptArcs& arcs() const override { return arcs_; }
  void list_seeds(std::vector<VertexId>& rows) const override {
    for (const VertexId row : arcs_.rows())
      if (marks_.trains(row)) rows.push_back(row);
  }

  const std::uint64_t seed_;
  const Index vertices_, count_;
  WeightedDraws draws_;
  const TrainingMarks marks_;
  const double read_;  // vertices that a step is expected to read
  const SaintLosses losses_;
  PairArcs arcs_;
};

}  // namespace

std::unique_ptr<StepSets> saint_vertex_sets(const SetInput& in) {
  return std::make_unique<SaintVertices>(in);
}

}  // namespace atl
