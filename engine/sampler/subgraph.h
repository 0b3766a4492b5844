// Samplers that draw one set of vertices for a step: all layers read the arcs between these, and the step trains on the training vertices
// among them. Which they are is known to every rank, so that each computes its own vertices' share of the same subgraph.
#pragma once

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

/// Of a set whose vertices are listed: which of its rows are this rank's training vertices.
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

/// Steps of an epoch in which each of `vertices` is read once, if a step is expected to read so many.
std::int64_t steps_to_read(Index vertices, double expected);

}  // namespace atl
