// Which ranks a very small graph leaves with nothing of some kind, so that tests of them can say that there are any.
#pragma once

#include <mutex>
#include <vector>

#include "train/small_job.h"

namespace atl {

/// Whether there is a rank without vertices; among the others, without halo, without training vertices.
struct OddRanks {
  bool without_vertices = false, without_halo = false, without_training_vertices = false;
  bool of_each_kind() const { return without_vertices && without_halo && without_training_vertices; }
};

/// By hash, nine vertices on four ranks and on five are together of each kind.
inline const SmallData kNineVertices{.vertices = 9, .arc_share = 0.2};
inline const std::vector<int> kFourAndFive{4, 5};

/// Where the job trains on each of these numbers of ranks.
inline OddRanks odd_ranks(const Job& job, const std::filesystem::path& dataset,
                          const std::vector<int>& numbers) {
  OddRanks odd;
  std::mutex lock;
  for (const int ranks : numbers) {
    run_ranks(ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, dataset, 1);
      const LocalGraph& graph = *rank.data.part().graph;
      std::lock_guard guard(lock);
      odd.without_vertices |= graph.owned == 0;
      odd.without_halo |= graph.owned > 0 && graph.halo == 0;
      odd.without_training_vertices |= graph.owned > 0 && rank.data.train.rows.empty();
    });
  }
  return odd;
}

}  // namespace atl
