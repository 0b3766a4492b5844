// LADIES (Zou et al. 2019): a layer reads a few vertices, the same ones for all ranks' batches, drawn by how
// much the computed rows read each: p ∝ ‖Â[rows, u]‖². Every layer also reads the step's own vertices.
//
// The drawn vertices are those with the smallest keys −ln(uniform) / p. This equals drawing without
// replacement, one vertex after the other, in proportion to p among the vertices left (Efraimidis & Spirakis
// 2006). Let t be the smallest key that wasn't drawn. A drawn vertex then stands for 1 / (1 − exp(−p·t)),
// which makes sums unbiased (Cohen & Kaplan 2007). If all vertices were drawn, each stands for itself. Each
// row's arcs are then scaled to the sum of all its arcs, as the paper normalises rows, which trades a little
// bias for much variance.
//
// The owner of a row adds the row's part to the norms ‖Â[rows, u]‖², and the owner of a vertex u draws it. A
// rank nominates at most one vertex more than are drawn, and tells the others p of its nominees.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sampler/gathered.h"
#include "sampler/kept_arcs.h"
#include "sampler/kinds/kinds.h"
#include "sampler/own_rows.h"

namespace atl {
namespace {

/// A vertex that may be drawn.
struct Candidate {
  double key, weight;  // p, unscaled
  VertexId row;
};

bool comes_before(const Candidate& a, const Candidate& b) {
  return a.key != b.key ? a.key < b.key : a.row < b.row;
}

/// A set of rows, for plans.
class SeenRows {
 public:
  SeenRows() { table_.clear(); }
  bool has(VertexId row) const { return table_.find(row) >= 0; }
  /// Returns whether the row is new.
  bool add(VertexId row) {
    const bool is_new = table_.find_or_add(row, count_) == count_;
    count_ += is_new ? 1 : 0;
    return is_new;
  }

 private:
  RowTable table_;
  VertexId count_ = 0;
};

class Ladies final : public StepSets {
 public:
  explicit Ladies(const SetInput& in)
      : in_(in),
        source_factors_(squared_source_factors(in)),
        sums_(in.owners, in.comm),
        seeds_(in.comm),
        nominees_(in.comm),
        new_arcs_(std::size_t(in.layers)),
        begins_(std::size_t(in.layers)) {
    for (int layer = 0; layer < in.layers; ++layer)
      sets_.emplace_back(WeighedSet::Options{.weighs = !in.attention, .keeps_sums = true});
  }

  void draw(std::int64_t step, std::span<const VertexId> seeds) override {
    step_seeds_ = seeds_.gather(seeds);
    rows_.take(0);
    sums_.clear();
    for (const VertexId row : seeds) rows_.push(row);
    Index from = 0;
    for (int layer = in_.layers - 1; layer >= 0; --layer) {
      const Index end = rows_.size();
      add_norms(layer, from);
      draw_layer(step, layer);
      from = end;
    }
  }

  const KeptArcs& of_layer(int layer) const override { return sets_[std::size_t(layer)]; }
  Index reallocations() const override;
  void count_sent(const Owners& ranks, Sent sent) const override;

 private:
  void add_norms(int layer, Index from);
  void draw_layer(std::int64_t step, int layer);
  void nominate(const Draws& draws, const WeighedSet& seeds, Index most);
  bool computes(VertexId row, int layer) const;

  const SetInput in_;
  const std::vector<double> source_factors_;  // (owned) squared; empty: all 1
  ColumnSums sums_;
  AllGathered<VertexId> seeds_;
  std::span<const VertexId> step_seeds_;  // of all ranks
  Reusable<VertexId> rows_;               // own rows of the layers drawn so far; each layer adds its new rows
  Reusable<Candidate> own_, all_;
  AllGathered<Candidate> nominees_;
  std::vector<WeighedSet> sets_;     // by layer
  std::vector<DrawnArcs> new_arcs_;  // by layer: arcs of the rows that no layer above computes …
  std::vector<Index> begins_;        // … and where these rows begin in rows_
};

/// Adds the norms of the arcs of rows that this layer computes and the layers above don't.
void Ladies::add_norms(int layer, Index from) {
  const auto rows = rows_.span().subspan(std::size_t(from));
  DrawnArcs& arcs = new_arcs_[std::size_t(layer)];
  begins_[std::size_t(layer)] = from;
  in_.own_rows.draw({}, rows, arcs);
  for (Index i = 0; i < Index(rows.size()); ++i) {
    const OwnRow row = own_row(arcs, rows, i);
    for (std::size_t e = 0; e < row.columns.size(); ++e)
      sums_.add(row.columns[e], squared_entry(in_.normalisation, row.weight(e), row.degree));
  }
  sums_.sum();
}

void Ladies::draw_layer(std::int64_t step, int layer) {
  const Index size = in_.options.layer_sizes[std::size_t(layer)];
  WeighedSet& set = sets_[std::size_t(layer)];
  set.clear();
  for (const VertexId row : step_seeds_) set.add(row, 1);
  nominate(Draws(in_.seed, Purpose::kNeighbour, std::uint64_t(step), std::uint64_t(layer)), set, size + 1);
  const auto nominees = nominees_.gather(own_.span());
  std::ranges::copy(nominees, all_.take(Index(nominees.size())).begin());
  std::ranges::sort(all_.span(), comes_before);
  const Index drawn = std::min(size, all_.size());
  const double next = drawn < all_.size() ? all_[drawn].key : std::numeric_limits<double>::infinity();
  for (const Candidate& each : all_.first(drawn)) {
    set.add(each.row, float(-1 / std::expm1(-each.weight * next)));
    if (in_.owners.owns(in_.rank(), each.row) && !computes(each.row, layer)) rows_.push(each.row);
  }
}

/// Whether a layer above drew the row, so that it is computed already.
bool Ladies::computes(VertexId row, int layer) const {
  for (int above = layer + 1; above < in_.layers; ++above)
    if (sets_[std::size_t(above)].has(row)) return true;
  return false;
}

/// Nominates own vertices that are read and aren't in the set yet: the first ones in the order of keys.
void Ladies::nominate(const Draws& draws, const WeighedSet& seeds, Index most) {
  own_.take(0);
  const Index first = in_.owners.first_row(in_.rank());
  for (std::size_t i = 0; i < sums_.columns().size(); ++i) {
    const VertexId row = sums_.columns()[i];
    if (seeds.has(row)) continue;
    const double weight =
        sums_.sums()[i] * (source_factors_.empty() ? 1 : source_factors_[std::size_t(row - first)]);
    if (weight <= 0) continue;
    const double uniform = draws.uniform_at(std::uint64_t(in_.ids[std::size_t(row)]), 0);
    own_.push({-std::log1p(-uniform) / weight, weight, row});
  }
  const auto own = own_.span();
  if (Index(own.size()) <= most) return;
  std::ranges::nth_element(own, own.begin() + most, comes_before);
  own_.extend(most);
}

Index Ladies::reallocations() const {
  Index sum = sums_.reallocations() + seeds_.reallocations() + rows_.reallocations() + own_.reallocations() +
              all_.reallocations() + nominees_.reallocations();
  for (const WeighedSet& set : sets_) sum += set.reallocations();
  for (const DrawnArcs& arcs : new_arcs_) sum += arcs.reallocations();
  return sum;
}

/// Each rank sends its rows' columns and their sums to the columns' owners. Then it sends its nominees to all
/// ranks.
void Ladies::count_sent(const Owners& ranks, Sent sent) const {
  AllGathered<VertexId>::count_sent(step_seeds_, ranks, sent);
  const auto count = std::size_t(ranks.ranks());
  std::vector<SeenRows> known(count);                                      // by rank: the columns of its rows
  std::vector<std::vector<Index>> told(count, std::vector<Index>(count));  // number of these, by their owner
  std::vector<Index> nominees(count, 0);
  SeenRows seeds, read;
  for (const VertexId row : step_seeds_) seeds.add(row);
  for (int layer = in_.layers - 1; layer >= 0; --layer) {
    const auto rows = rows_.span().subspan(std::size_t(begins_[std::size_t(layer)]));
    const DrawnArcs& arcs = new_arcs_[std::size_t(layer)];
    for (Index i = 0; i < arcs.neighbours.size(); ++i) {
      const auto from = std::size_t(ranks.owner_of(rows[std::size_t(i)]));
      for (const VertexId column : own_row(arcs, rows, i).columns) {
        const auto owner = std::size_t(ranks.owner_of(column));
        if (known[from].add(column)) ++told[from][owner];
        if (read.add(column) && !seeds.has(column)) ++nominees[owner];
      }
    }
    for (Rank from = 0; from < ranks.ranks(); ++from)
      for (Rank to = 0; to < ranks.ranks(); ++to) {
        if (from == to) continue;
        const auto f = std::size_t(from), t = std::size_t(to);
        const Index most = in_.options.layer_sizes[std::size_t(layer)] + 1;
        for (const Index bytes : {Index(8), 4 * told[f][t], 8 * told[f][t], Index(8),
                                  Index(sizeof(Candidate)) * std::min(most, nominees[f])})
          sent(from, to, bytes);
      }
  }
}

}  // namespace

std::unique_ptr<StepSets> ladies_sets(const SetInput& in) {
  return std::make_unique<Ladies>(in);
}

}  // namespace atl
