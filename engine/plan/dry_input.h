// The sizes of each rank of a job whose graph is prepared: the input of dry runs.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "partition/prepared_graph.h"
#include "plan/dry_run.h"
#include "plan/rank_shape.h"

namespace atl {

/// Ranks that hold parts of the graph. Ask for all ranks of one server before the next server's: then each
/// server's graph is built once.
class DryInputs {
 public:
  /// The arguments outlive the object. `part_of_rank` (ranks): the part that each rank trains (traffic.h).
  /// hosts: as in DryRunInput.
  DryInputs(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
            std::vector<int> part_of_rank, int threads, std::vector<std::string> hosts = {});
  int ranks() const { return int(part_of_rank_.size()); }
  /// The most training vertices of any server, where servers train in batches: each vertex may be a batch. 0:
  /// servers train in no batches, or nothing is trained.
  Index most_batches() const { return most_batches_; }
  PartShare share(Rank rank) const;
  /// Reads the rank's arcs once.
  DryRunInput of(Rank rank);

 private:
  void count_batches();
  RankShape shape_of(Rank rank, const VertexMarks& induced_on) const;

  const Job& job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  std::vector<int> part_of_rank_;
  int threads_;
  std::vector<std::string> hosts_;
  VertexMarks marks_;    // the training vertices, where training sees no others
  VertexMarks counted_;  // those in a training loss, where servers hold copies
  Index most_batches_ = 0;
  ServerShapes servers_;
  Model model_;
};

}  // namespace atl
