// The sizes of each rank of a job, as its graph is prepared: what dry runs go on.
#pragma once

#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "partition/prepared_graph.h"
#include "plan/dry_run.h"
#include "plan/server_shapes.h"

namespace atl {

/// Of ranks that hold parts of the graph. Asked for one server's ranks after the other's, it finds each
/// server's graph once.
class DryInputs {
 public:
  /// All outlive it. `part_of_rank` (ranks): which part each trains (traffic.h). hosts: as in DryRunInput.
  DryInputs(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
            std::vector<int> part_of_rank, int threads, std::vector<std::string> hosts = {});
  int ranks() const { return int(part_of_rank_.size()); }
  /// Where servers train in batches: the training vertices of the one with most, each of which may be a
  /// batch; 0: they don't, or none trains.
  Index most_batches() const { return most_batches_; }
  PartShare share(Rank rank) const;
  /// Reads the rank's arcs once.
  DryRunInput of(Rank rank);

 private:
  void count_batches();
  RankShape shape_of(Rank rank, std::span<const std::uint8_t> induced_on) const;

  const Job& job_;
  const Dataset& dataset_;
  const PreparedGraph& prepared_;
  std::vector<int> part_of_rank_;
  int threads_;
  std::vector<std::string> hosts_;
  std::vector<std::uint8_t> marks_;    // of training vertices, where training sees no others
  std::vector<std::uint8_t> counted_;  // by a loss in training, where servers hold copies
  Index most_batches_ = 0;
  ServerShapes servers_;
  Model model_;
};

}  // namespace atl
