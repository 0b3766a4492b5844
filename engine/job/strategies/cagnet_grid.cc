#include "job/strategies/cagnet_grid.h"

namespace atl {

CagnetGrid cagnet_grid(const Options& options, int ranks) {
  return {ranks, options.has("replication") ? int(options.integer("replication")) : 1};
}

std::vector<Rank> CagnetGrid::row_ranks(Rank rank) const {
  std::vector<Rank> all;
  for (int column = 0; column < replication; ++column) all.push_back(at(row(rank), column));
  return all;
}

std::vector<Rank> CagnetGrid::sources(Rank rank) const {
  std::vector<Rank> all;
  for (int turn = 0; turn < rows(); ++turn)
    if (replication > 1 || turn > 0) all.push_back(source(rank, turn));
  return all;
}

bool fits_grid(int ranks, std::int64_t replication) {
  return replication >= 1 && replication <= ranks && ranks % (replication * replication) == 0;
}

std::vector<int> replications_of(int ranks) {
  std::vector<int> all;
  for (int c = 1; c <= ranks; ++c)
    if (fits_grid(ranks, c)) all.push_back(c);
  return all;
}

}  // namespace atl
