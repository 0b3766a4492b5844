// Strategy `granndis`: the exact exchange, among the ranks of a server, of what the server holds; over all ranks for inference.
#include "job/strategies/granndis.h"

#include <algorithm>

#include "job/models.h"
#include "strategy/kinds/kinds.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make(const ScheduleInput& in) {
  return exact_full_batch(in, true, all_boundary_rows(in));
}

ServerOptions server(const Job& job, Rank rank, Index epoch) {
  const int together = ranks_of_a_server(job), first = rank / together * together;
  const Expansion expansion = expansion_of(job);
  return {.first_part = first,
          .parts = std::min(together, job.placement.ranks - first),
          .hops = expansion.hops,
          .fanout = expansion.fanout,
          .layers = gathering_layers(job.model),
          .samples = !expansion.is_exact,
          .seed = job.training.seed,
          .epoch = expansion.redraws ? std::uint64_t(epoch) : 0,
          .redraws = expansion.redraws};
}

/// Rows that the ranks of a server have for each other, of each layer whose rows travel.
void add_cut(const ServerGraph& held, Rank first, std::vector<std::vector<CutRows>>& by_layer) {
  const int parts = int(held.halos.size()), layers = int(by_layer.size());
  for (int to = 0; to < parts; ++to) {
    const std::vector<VertexId>& halo = held.halos[std::size_t(to)];
    std::vector<std::vector<Index>> rows(std::size_t(layers), std::vector<Index>(std::size_t(parts), 0));
    for (std::size_t i = 0, from = 0; i < halo.size(); ++i) {
      while (halo[i] >= held.part_offsets[from + 1]) ++from;
      // A row that is read from d hops away is read by all layers with d or more behind them.
      for (int l = 0; l < layers - held.near[std::size_t(to)][i]; ++l) ++rows[std::size_t(l)][from];
    }
    for (int l = 0; l < layers; ++l)
      for (int from = 0; from < parts; ++from)
        if (const Index count = rows[std::size_t(l)][std::size_t(from)]; count > 0)
          by_layer[std::size_t(l)].push_back({first + from, first + to, count});
  }
}

void describe(const Job& job, const Model&, const PreparedGraph& prepared,
              std::span<const std::uint8_t> induced_on, TrafficShape& shape) {
  shape.server_cut.resize(shape.widths.size());
  for (Rank first = 0; first < job.placement.ranks; first += ranks_of_a_server(job)) {
    ServerOptions options = server(job, first, 1);
    options.induced_on = induced_on;
    add_cut(server_graph(prepared, options), first, shape.server_cut);
  }
}

}  // namespace

Strategy granndis_row() {
  return {.kind = "granndis", .make = make, .server = server, .describe = describe};
}

}  // namespace atl
