// GraphSAINT's edge sampler: a draw takes both ends of an arc, with p ∝ 1/deg(u) + 1/deg(v). Drawing a vertex
// uniformly, and then one of its neighbours, gives these probabilities. If every arc has its reverse, the
// probabilities of a vertex and of a pair have a closed form.
#include <algorithm>

#include "base/error.h"
#include "sampler/kinds/kinds.h"
#include "sampler/own_rows.h"
#include "sampler/subgraph.h"
#include "sampler/walks.h"

namespace atl {
namespace {

/// 0 if each arc has its reverse; otherwise almost certainly not 0. Collective.
std::int64_t asymmetry(const SetInput& in) {
  std::int64_t sum = 0;
  for_each_own_row(in, [&](const OwnRow& row) {
    for (const VertexId column : row.columns) {
      const auto low = std::uint64_t(std::min(row.row, column)),
                 high = std::uint64_t(std::max(row.row, column));
      const auto mark = std::int64_t(mix64(mix64(low) ^ high) >> 33);
      if (row.row != column) sum += row.row < column ? mark : -mark;
    }
  });
  in.comm.all_reduce(Traffic::kSetup, std::span<std::int64_t>(&sum, 1));
  return sum;
}

/// Returns an entry per own row.
std::vector<PairArcs::End> ends_of_rows(const SetInput& in) {
  const double root = 1 / double(in.vertices());
  std::vector<PairArcs::End> ends(std::size_t(in.owners.rows(in.rank())));
  const auto first = VertexId(in.owners.first_row(in.rank()));
  ColumnSums sums(in.owners, in.comm);
  sums.clear();
  for_each_own_row(in, [&](const OwnRow& row) {
    const auto others =
        std::ranges::count_if(row.columns, [&](VertexId column) { return column != row.row; });
    const double along = others == 0 ? 0 : root / double(others);
    ends[std::size_t(row.row - first)] = {root, along};
    for (const VertexId column : row.columns)
      if (column != row.row) sums.add(column, along);
  });
  sums.sum();
  for (std::size_t i = 0; i < sums.columns().size(); ++i)
    ends[std::size_t(sums.columns()[i] - first)].probability += sums.sums()[i];
  return ends;
}

class SaintEdges final : public Subgraph {
 public:
  explicit SaintEdges(const SetInput& in)
      : in_(in),
        first_(VertexId(in.owners.first_row(in.rank()))),
        walks_(in, in.options.draws, 1),
        own_ends_(ends_of_rows(in)),
        marks_(in),
        read_(sum_over_parts(in, [&](VertexId row) { return presence(row); })),
        losses_(in, [&](VertexId row) { return presence(row); }),
        ends_(in.comm),
        arcs_(in.options.draws, !in.attention) {
    if (asymmetry(in) != 0)
      fail(
          "sampler saintEdge: this graph has arcs without their reverse, and an arc is drawn from either end (set dataset.symmetrise: true, or use sampler: saintWalk)");
  }

  std::int64_t steps() const override { return steps_to_read(in_.vertices(), read_); }
  double size(std::int64_t) const override { return losses_.expected(); }
  void weigh(std::span<const VertexId> rows, Reusable<Real>& weights) const override {
    const auto to = weights.take(Index(rows.size()));
    std::ranges::transform(rows, to.begin(), [&](VertexId row) { return losses_.weight(presence(row)); });
  }
  Index reallocations() const override {
    return walks_.reallocations() + own_drawn_.reallocations() + ends_.reallocations() +
           arcs_.reallocations();
  }
  void count_sent(const Owners& ranks, Sent sent) const override {
    walks_.count_sent(ranks, sent);
    AllGathered<DrawnEnd>::count_sent(arcs_.rows(), ranks, sent);
  }

 private:
  struct DrawnEnd {
    PairArcs::End end;
    VertexId row;
  };
  const PairArcs::End& end_of(VertexId row) const { return own_ends_[std::size_t(row - first_)]; }
  double presence(VertexId row) const { return presence_of(end_of(row).probability, in_.options.draws); }

  void draw_set(std::int64_t step) override {
    own_drawn_.take(0);
    for (const VertexId row : walks_.draw(Draws(in_.seed, Purpose::kNeighbour, std::uint64_t(step))))
      if (in_.owners.owns(in_.rank(), row)) own_drawn_.push({end_of(row), row});
    arcs_.clear();
    for (const DrawnEnd& each : ends_.gather(own_drawn_.span())) arcs_.add(each.row, each.end);
  }
  const KeptArcs& arcs() const override { return arcs_; }
  void list_seeds(std::vector<VertexId>& rows) const override {
    for (const VertexId row : arcs_.rows())
      if (marks_.trains(row)) rows.push_back(row);
  }

  const SetInput in_;
  const VertexId first_;  // the first own row
  Walks walks_;
  const std::vector<PairArcs::End> own_ends_;  // (owned)
  const TrainingMarks marks_;
  const double read_;  // vertices that a step is expected to read
  const SaintLosses losses_;
  Reusable<DrawnEnd> own_drawn_;
  AllGathered<DrawnEnd> ends_;
  PairArcs arcs_;
};

}  // namespace

std::unique_ptr<StepSets> saint_edge_sets(const SetInput& in) {
  return std::make_unique<SaintEdges>(in);
}

}  // namespace atl
