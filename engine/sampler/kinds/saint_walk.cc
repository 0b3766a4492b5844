// GraphSAINT's random-walk sampler: a step's subgraph is the vertices that some short walks visit, and all
// arcs between them. The probabilities of vertices and arcs are counted over subgraphs drawn before training,
// so the corrections are estimates too.
#include <algorithm>

#include "sampler/kinds/kinds.h"
#include "sampler/subgraph.h"
#include "sampler/walks.h"

namespace atl {
namespace {

/// Arcs between vertices of a step's set.
class WalkedArcs final : public KeptArcs {
 public:
  WalkedArcs(const DrawnTogether& counts, bool weighs) : counts_(counts), weighs_(weighs) { table_.clear(); }
  void set(std::span<const VertexId> rows) {
    table_.clear();
    for (std::size_t i = 0; i < rows.size(); ++i) table_.find_or_add(rows[i], VertexId(i));
  }
  bool keeps(VertexId, VertexId column, Index) const override { return table_.find(column) >= 0; }
  float stands_for(VertexId row, VertexId column, Index place) const override {
    if (table_.find(column) < 0) return 0;
    return weighs_ ? counts_.inverse_alpha(row, place) : 1;
  }
  bool weighs() const override { return weighs_; }
  Index reallocations() const { return table_.reallocations(); }

 private:
  const DrawnTogether& counts_;
  const bool weighs_;
  RowTable table_;
};

class SaintWalks final : public Subgraph {
 public:
  explicit SaintWalks(const SetInput& in)
      : in_(in),
        walks_(in, in.options.draws, in.options.walk_length),
        counts_(in),
        read_(count_subgraphs()),
        marks_(in),
        losses_(in, [&](VertexId row) { return counts_.presence(row); }),
        arcs_(counts_, !in.attention) {}

  std::int64_t steps() const override { return steps_to_read(in_.vertices(), read_); }
  double size(std::int64_t) const override { return losses_.expected(); }
  void weigh(std::span<const VertexId> rows, Reusable<Real>& weights) const override {
    const auto to = weights.take(Index(rows.size()));
    std::ranges::transform(rows, to.begin(),
                           [&](VertexId row) { return losses_.weight(counts_.presence(row)); });
  }
  Index reallocations() const override { return walks_.reallocations() + arcs_.reallocations(); }
  void count_sent(const Owners& ranks, Sent sent) const override { walks_.count_sent(ranks, sent); }

 private:
  /// Draws until each vertex was drawn `coverage` times on average. Returns the mean number of vertices per
  /// subgraph.
  double count_subgraphs() {
    const Index wanted = in_.options.coverage * in_.vertices();
    Index read = 0;
    for (std::uint64_t k = 0; read < wanted; ++k) {
      const auto rows =
          walks_.draw(Draws(in_.seed, Purpose::kNeighbour, ~k));  // ~k: keys that no training step uses
      counts_.count(rows);
      read += Index(rows.size());
    }
    return double(read) / double(counts_.subgraphs());
  }
  void draw_set(std::int64_t step) override {
    rows_ = walks_.draw(Draws(in_.seed, Purpose::kNeighbour, std::uint64_t(step)));
    arcs_.set(rows_);
  }
  const KeptArcs& arcs() const override { return arcs_; }
  void list_seeds(std::vector<VertexId>& rows) const override {
    for (const VertexId row : rows_)
      if (marks_.trains(row)) rows.push_back(row);
  }

  const SetInput in_;
  Walks walks_;
  DrawnTogether counts_;
  const double read_;
  const TrainingMarks marks_;
  const SaintLosses losses_;
  WalkedArcs arcs_;
  std::span<const VertexId> rows_;
};

}  // namespace

std::unique_ptr<StepSets> saint_walk_sets(const SetInput& in) {
  return std::make_unique<SaintWalks>(in);
}

}  // namespace atl
