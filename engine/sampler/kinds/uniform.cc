// Uniform vertices: a step reads a fixed number of vertices of the whole graph, each set of them with the
// same probability, and the arcs between them. Every rank computes the same set from its key, so drawing
// sends nothing.
//
// Let a step draw s of n vertices. If it has drawn one end of an arc, it has drawn the other end with
// probability (s − 1) / (n − 1). The arc stands for the inverse of this, which makes sums over a step's
// vertices unbiased. Losses are divided by the expected number of training vertices.
#include <algorithm>

#include "sampler/draw_positions.h"
#include "sampler/kept_arcs.h"
#include "sampler/kinds/kinds.h"
#include "sampler/subgraph.h"

namespace atl {
namespace {

class UniformVertices final : public Subgraph {
 public:
  explicit UniformVertices(const SetInput& in)
      : seed_(in.seed),
        vertices_(in.vertices()),
        drawn_(std::min(in.options.draws, vertices_)),
        marks_(in),
        set_({.weighs = !in.attention}) {
    for (const Index count : in.training_by_part) training_ += count;
  }

  std::int64_t steps() const override { return steps_to_read(vertices_, double(drawn_)); }
  double size(std::int64_t) const override {
    return std::max(1e-9, double(training_) * double(drawn_) / double(vertices_));
  }
  Index reallocations() const override { return set_.reallocations() + rows_.reallocations(); }

 private:
  void draw_set(std::int64_t step) override {
    const Draws draws(seed_, Purpose::kNeighbour, std::uint64_t(step));
    const KeyedOrder order(std::uint64_t(vertices_), draws.key());
    const float factor = drawn_ > 1 ? float(double(vertices_ - 1) / double(drawn_ - 1)) : 1;
    set_.clear();
    rows_.take(0);
    for (Index place = 0; place < drawn_; ++place) {
      rows_.push(VertexId(order.at(std::uint64_t(place))));
      set_.add(rows_[place], factor);
    }
  }
  const KeptArcs& arcs() const override { return set_; }
  void list_seeds(std::vector<VertexId>& rows) const override {
    for (const VertexId row : rows_.span())
      if (marks_.trains(row)) rows.push_back(row);
    std::ranges::sort(rows);
  }

  const std::uint64_t seed_;
  const Index vertices_, drawn_;
  Index training_ = 0;
  const TrainingMarks marks_;
  WeighedSet set_;
  Reusable<VertexId> rows_;
};

}  // namespace

std::unique_ptr<StepSets> uniform_sets(const SetInput& in) {
  return std::make_unique<UniformVertices>(in);
}

}  // namespace atl
