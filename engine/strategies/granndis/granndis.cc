// Strategy `granndis`: the exact exchange. The ranks of a server exchange what the server holds; in layers
// that read no copies, and in inference, all ranks exchange rows.
#include "strategies/granndis/info.h"

#include <algorithm>

#include "job/models.h"
#include "partition/server_graph.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

std::unique_ptr<Schedule> make_granndis(const ScheduleInput& in) {
  const auto exchange_of = [&ctx = in.ctx, &comm = in.comm, wire = in.job.wire()](
                               const GraphPart& part, std::vector<ExchangedLayer> layers) {
    return make_exact_exchange(ctx, comm, part, std::move(layers), true,
                               std::make_unique<WholeBoundarySet>(ctx, *part.graph, part.outer, wire));
  };
  return full_batch_of_parts(in, expansion_of(in.job).batches, exchange_of);
}

ServerOptions granndis_server(const Job& job, Rank rank) {
  const int together = ranks_of_a_server(job), first = rank / together * together;
  const Expansion expansion = expansion_of(job);
  return {.first_part = first,
          .parts = std::min(together, job.placement.ranks - first),
          .max_hop = expansion.max_hop,
          .fanout = expansion.fanout,
          .layers = expansion.hops,
          .beyond = expansion.beyond,
          .samples = !expansion.is_exact,
          .seed = job.training.seed,
          .epoch = expansion.redraws ? 1U : 0U,
          .redraws = expansion.redraws,
          .batches = expansion.batches};
}

void share_granndis_data(const Job& job, Rank rank, DataShare& share) {
  share.server = granndis_server(job, rank);
}

/// Adds the rows that a server's ranks send each other in each layer. The last `beyond` layers are left out,
/// because their rows travel between servers too.
void add_cut(const ServerGraph& held, Rank first, int beyond, std::vector<std::vector<CutRows>>& by_layer) {
  const int parts = int(held.halos.size()), layers = std::max(0, int(by_layer.size()) - beyond);
  for (int to = 0; to < parts; ++to) {
    const std::vector<VertexId>& halo = held.halos[std::size_t(to)];
    std::vector<std::vector<Index>> rows(std::size_t(layers), std::vector<Index>(std::size_t(parts), 0));
    for (std::size_t i = 0, from = 0; i < halo.size(); ++i) {
      while (halo[i] >= held.part_offsets[from + 1]) ++from;
      // If a row's nearest reader is d hops away, the layers with d or more gathering layers behind them read
      // it.
      for (int l = 0; l < layers - held.near[std::size_t(to)][i]; ++l) ++rows[std::size_t(l)][from];
    }
    for (int l = 0; l < layers; ++l)
      for (int from = 0; from < parts; ++from)
        if (const Index count = rows[std::size_t(l)][std::size_t(from)]; count > 0)
          by_layer[std::size_t(l)].push_back({first + from, first + to, count});
  }
}

void describe_granndis(const Job& job, const Model&, const PreparedGraph& prepared, const GraphMarks& marks,
                       TrafficShape& shape) {
  const int layers = int(shape.widths.size()), beyond = std::min(expansion_of(job).beyond, layers);
  shape.server_cut.resize(shape.widths.size());
  for (int l = layers - beyond; l < layers; ++l)
    shape.server_cut[std::size_t(l)] = cut_rows(prepared, !marks.induced_on.empty());
  for (Rank first = 0; first < job.placement.ranks; first += ranks_of_a_server(job)) {
    ServerOptions options = granndis_server(job, first);
    options.induced_on = marks.induced_on;
    for (const ServerGraph& held : server_graphs(prepared, options, marks.counted))
      add_cut(held, first, beyond, shape.server_cut);
  }
}

}  // namespace

Strategy granndis_row() {
  return {.kind = "granndis",
          .make = make_granndis,
          .share_data = share_granndis_data,
          .describe = describe_granndis};
}

}  // namespace atl
