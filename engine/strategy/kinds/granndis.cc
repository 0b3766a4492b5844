// Strategy `granndis`: the exact exchange, among the ranks of a server, of what the server holds; over all ranks for inference.
#include "job/strategies/granndis.h"

#include <algorithm>

#include "strategy/kinds/kinds.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  return exact_full_batch(in, true, all_boundary_rows(in));
}

ServerOptions server(const Job& job, Rank rank) {
  const int together = ranks_of_a_server(job), first = rank / together * together;
  const Expansion expansion = expansion_of(job);
  return {.first_part = first,
          .parts = std::min(together, job.placement.ranks - first),
          .hops = expansion.hops,
          .fanout = expansion.fanout,
          .samples = !expansion.is_exact,
          .seed = job.training.seed};
}

/// Rows that the ranks of each server have for each other.
void describe(const Job& job, const Model&, const PreparedGraph& prepared,
              std::span<const std::uint8_t> induced_on, TrafficShape& shape) {
  for (Rank first = 0; first < job.placement.ranks; first += ranks_of_a_server(job)) {
    ServerOptions options = server(job, first);
    options.induced_on = induced_on;
    const ServerGraph held = server_graph(prepared, options);
    for (int to = 0; to < options.parts; ++to)
      for (int from = 0; from < options.parts; ++from) {
        const std::vector<VertexId>& halo = held.halos[std::size_t(to)];
        const auto begin = std::ranges::lower_bound(halo, held.part_offsets[std::size_t(from)]),
                   end = std::ranges::lower_bound(halo, held.part_offsets[std::size_t(from) + 1]);
        if (from != to && begin != end)
          shape.server_cut.push_back({first + from, first + to, Index(end - begin)});
      }
  }
}

}  // namespace

Strategy granndis_row() {
  return {.kind = "granndis", .make = make, .server = server, .describe = describe};
}

}  // namespace atl
