#include "plan/server_shapes.h"

#include "partition/server_graph.h"

namespace atl {

const std::vector<RankShape>& ServerShapes::of(Rank rank, const GraphMarks& marks, int ranks) {
  ServerOptions options = strategy_of(job_).server(job_, rank, 1);
  options.induced_on = marks.induced_on;
  beyond_ = options.beyond;
  const auto place = std::size_t(rank - options.first_part);
  if (options.first_part == first_part_) return shapes_[place];
  first_part_ = options.first_part;
  shapes_.assign(std::size_t(options.parts), {});
  Index most = -1;
  for (const ServerGraph& held : server_graphs(prepared_, options, marks.counted)) {
    for (int part = 0; part < options.parts; ++part) {
      const auto local =
          localize(held.view(), Rank(first_part_ + part), {.ranks = PartRanks::of_group(Rank(first_part_))});
      local->counted = held.counted[std::size_t(part)];
      RankShape& shape = shapes_[std::size_t(part)].emplace_back(
          rank_shape(*local, near_blocks(held, *local, options.layers, false), ranks));
      shape.server_bytes = held.bytes(), shape.is_followed = options.redraws || options.batches > 1;
    }
    if (held.bytes() > most) most = held.bytes(), largest_ = shapes_[0].size() - 1;
  }
  return shapes_[place];
}

int server_batches_of(const Job& job) {
  const auto server = strategy_of(job).server;
  return server == nullptr ? 1 : server(job, 0, 1).batches;
}

}  // namespace atl
