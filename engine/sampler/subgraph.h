// Samplers that draw one set of vertices per step. All layers read the arcs between the set's vertices, and
// the step trains on the training vertices among them. Every rank knows the set and computes its own
// vertices' share of the same subgraph.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "graph/row_table.h"
#include "sampler/kept_arcs.h"
#include "sampler/step_sets.h"

namespace atl {

class Subgraph : public StepSets, public StepSeeds {
 public:
  void draw(std::int64_t step, std::span<const VertexId> /*seeds*/) final {
    if (step != drawn_) draw_set(step);
    drawn_ = step;
  }
  const KeptArcs& of_layer(int) const final { return arcs(); }
  StepSeeds* seeds() final { return this; }
  void of_step(std::int64_t step, std::vector<VertexId>& rows) final {
    draw(step, {});
    rows.clear();
    list_seeds(rows);
  }

 private:
  virtual void draw_set(std::int64_t step) = 0;
  virtual const KeptArcs& arcs() const = 0;
  /// This rank's training vertices of the set, ascending.
  virtual void list_seeds(std::vector<VertexId>& rows) const = 0;

  std::int64_t drawn_ = -1;
};

/// Says which rows of a drawn set are this rank's training vertices.
class TrainingMarks {
 public:
  explicit TrainingMarks(const SetInput& in);
  bool trains(VertexId row) const {
    return row >= first_ && row < first_ + VertexId(marks_.size()) && marks_[std::size_t(row - first_)];
  }

 private:
  VertexId first_;
  std::vector<bool> marks_;  // (owned)
};

/// The number of steps in which each of `vertices` vertices is read once on average, if a step reads
/// `expected` of them: the steps of an epoch.
std::int64_t steps_to_read(Index vertices, double expected);

// GraphSAINT (Zeng et al. 2020): a step's subgraph is drawn with probabilities that favour some vertices, and
// its results are corrected for these probabilities. An arc u → v stands for 1 / α = P(v) / P(u and v), which
// makes a vertex's sum unbiased, given that the vertex is drawn. A vertex's loss counts 1 / λ = 1 / P(v),
// which makes the loss unbiased. P(v) is the probability that a step's subgraph has v, and P(u and v) that it
// has both.

/// Computes the divisor and the weights of a step's losses from P(v) of the training vertices.
class SaintLosses {
 public:
  /// presence(row): P of an own row. Collective.
  SaintLosses(const SetInput& in, FunctionRef<double(VertexId row)> presence);

  /// Training vertices that a step is expected to have, over all ranks.
  double expected() const { return expected_; }
  /// The weight of a training vertex's loss if losses are divided by expected().
  Real weight(double presence) const { return Real(expected_ / (double(training_) * presence)); }

 private:
  Index training_ = 0;
  double expected_ = 0;
};

/// The sum of own rows' values over all ranks, added part by part, so that its bits don't depend on which
/// rank owns a part. Collective.
double sum_over_parts(const SetInput& in, FunctionRef<double(VertexId row)> value);

/// The probability that at least one of `draws` independent draws hits, if each hits with probability p.
double presence_of(double p, Index draws);
/// The probability that a subgraph of `draws` draws has both of two vertices. One draw takes one of them with
/// probability p, the other with q, and both with `together`.
double presence_of_both(double p, double q, double together, Index draws);

// Arcs between vertices that were drawn one by one, or as the two ends of arcs. What an arc stands for
// follows from the probabilities of its ends, which every rank knows for all drawn vertices.

class PairArcs final : public KeptArcs {
 public:
  struct End {
    double probability = 0;  // that one draw takes the vertex
    double along = 0;        // that one draw takes a given arc from it; 0: vertices are drawn one by one
  };
  /// `draws`: independent draws per step.
  PairArcs(Index draws, bool weighs) : draws_(draws), weighs_(weighs) { table_.clear(); }

  void clear() {
    table_.clear();
    rows_.take(0), ends_.take(0);
  }
  void add(VertexId row, const End& end) {
    const auto next = VertexId(rows_.size());
    ATOLL_CHECK(table_.find_or_add(row, next) == next, "row {} is in the set twice", row);
    rows_.push(row), ends_.push(end);
  }
  std::span<const VertexId> rows() const { return rows_.span(); }
  const End* find(VertexId row) const {
    const VertexId at = table_.find(row);
    return at < 0 ? nullptr : &ends_[at];
  }
  Index reallocations() const {
    return table_.reallocations() + rows_.reallocations() + ends_.reallocations();
  }

  bool keeps(VertexId, VertexId column, Index) const override { return table_.find(column) >= 0; }
  float stands_for(VertexId row, VertexId column, Index) const override {
    const End* const source = find(column);
    if (source == nullptr) return 0;
    if (!weighs_) return 1;
    const End* const destination = find(row);
    ATOLL_CHECK(destination != nullptr, "row {} is read and not in the set", row);
    const double p = destination->probability, together = destination->along + source->along;
    return float(presence_of(p, draws_) / presence_of_both(p, source->probability, together, draws_));
  }
  bool weighs() const override { return weighs_; }

 private:
  const Index draws_;
  const bool weighs_;
  RowTable table_;
  Reusable<VertexId> rows_;  // in the order of add()
  Reusable<End> ends_;       // likewise
};

inline TrainingMarks::TrainingMarks(const SetInput& in)
    : first_(VertexId(in.owners.first_row(in.rank()))),
      marks_(std::size_t(in.owners.rows(in.rank())), false) {
  for (const auto& rows : in.training.by_part)
    for (const VertexId row : rows) marks_[std::size_t(row - first_)] = true;
}

inline std::int64_t steps_to_read(Index vertices, double expected) {
  return std::max<std::int64_t>(1, std::llround(std::ceil(double(vertices) / std::max(1.0, expected))));
}

inline double sum_over_parts(const SetInput& in, FunctionRef<double(VertexId row)> value) {
  std::vector<double> of_parts(std::size_t(in.owners.parts()), 0);
  for (int part = in.owners.first_part(in.rank()); part < in.owners.first_part(in.rank() + 1); ++part)
    for (Index row = in.owners.part_begin(part); row < in.owners.part_begin(part + 1); ++row)
      of_parts[std::size_t(part)] += value(VertexId(row));
  in.comm.all_reduce(Traffic::kSetup, std::span<double>(of_parts));
  double sum = 0;
  for (const double each : of_parts) sum += each;
  return sum;
}

inline SaintLosses::SaintLosses(const SetInput& in, FunctionRef<double(VertexId row)> presence) {
  for (const Index count : in.training_by_part) training_ += count;
  const TrainingMarks marks(in);
  expected_ = std::max(
      1e-9, sum_over_parts(in, [&](VertexId row) { return marks.trains(row) ? presence(row) : 0.0; }));
}

inline double presence_of(double p, Index draws) {
  return p >= 1 ? 1 : -std::expm1(double(draws) * std::log1p(-p));
}

inline double presence_of_both(double p, double q, double together, Index draws) {
  return presence_of(p, draws) + presence_of(q, draws) - presence_of(std::min(1.0, p + q - together), draws);
}

}  // namespace atl
