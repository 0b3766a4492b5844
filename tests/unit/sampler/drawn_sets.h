// The sets that samplers, given by name, draw for a step, on a rank of a group.
#pragma once

#include "comm/ranks.h"
#include "sampler/kinds/kinds.h"
#include "sampler/sampled_graph.h"

namespace atl {

struct DrawnSetsOptions {
  std::string sampler;
  SetOptions sets{.layer_sizes = {12, 9}, .draws = 30, .walk_length = 2, .merged = 2, .coverage = 20};
  Normalisation by = Normalisation::kSum;
  bool attention = false;
  Index batch_size = 20;
};

/// Neither copyable nor movable. References outlive it.
class DrawnSets {
 public:
  DrawnSets(const SampledGraph& graph, Communicator& comm, const DrawnSetsOptions& options)
      : owners(graph.prepared.part_offsets(), comm.size()),
        structure(graph.mapped(pool)),
        training(training_rows(graph.prepared, owners, comm.rank(),
                               [&](VertexId id) { return graph.marks[std::size_t(id)] != 0; })),
        by_part(graph.prepared.quality().training),
        batches(by_part, training, options.batch_size, 1),
        sets(find_sets(options.sampler)({.own_rows = *structure,
                                         .owners = owners,
                                         .comm = comm,
                                         .ids = graph.prepared.ids(),
                                         .training = training,
                                         .training_by_part = by_part,
                                         .layers = int(options.sets.layer_sizes.size()),
                                         .normalisation = options.by,
                                         .attention = options.attention,
                                         .seed = 1,
                                         .options = options.sets})) {}
  DrawnSets(const DrawnSets&) = delete;

  StepSeeds& seeds() { return sets->seeds() != nullptr ? *sets->seeds() : batches; }
  /// Draws the step's sets; returns this rank's seeds.
  std::vector<VertexId> draw(std::int64_t step) {
    std::vector<VertexId> rows;
    seeds().of_step(step, rows);
    sets->draw(step, rows);
    return rows;
  }

  ThreadPool pool{1};
  Owners owners;
  std::unique_ptr<Structure> structure;
  TrainingRows training;
  std::vector<Index> by_part;
  Seeds batches;
  std::unique_ptr<StepSets> sets;
};

}  // namespace atl
