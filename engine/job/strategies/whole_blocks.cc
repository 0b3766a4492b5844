#include "job/strategies/whole_blocks.h"

#include <numeric>

#include "job/strategies/boundary_rows.h"

namespace atl {
namespace {

/// A message of `rows` rows from one rank to another in each layer.
struct Message {
  Rank from, to;
  Index rows;
};

/// Whole blocks go forward; their gradients go back from `to` to `from`.
std::vector<Message> blocks(const CagnetGrid& grid, const TrafficShape& shape) {
  std::vector<Message> all;
  for (Rank from = 0; from < shape.ranks; ++from)
    for (int turn = 0; turn < grid.rows(); ++turn)
      if (const Rank to = grid.reader(from, turn); to != from)
        all.push_back({from, to, shape.owned_by_rank[std::size_t(from)]});
  return all;
}

/// Partial sums that `from` has aggregated for rows of `to`. Their gradients go the other way.
std::vector<Message> within_rows(const CagnetGrid& grid, const TrafficShape& shape) {
  std::vector<Message> all;
  for (Rank from = 0; from < shape.ranks; ++from)
    for (const Rank to : grid.row_ranks(from))
      if (to != from) all.push_back({from, to, shape.owned_by_rank[std::size_t(to)]});
  return all;
}

/// Bytes of one row at all these widths together.
std::int64_t row_bytes(const TrafficShape& shape, const std::vector<Index>& widths) {
  return std::accumulate(widths.begin(), widths.end(), Index(0)) * shape.bytes_per_value;
}

Index rows_of(const std::vector<Message>& messages) {
  Index rows = 0;
  for (const Message& each : messages) rows += each.rows;
  return rows;
}

void add(std::vector<PairBytes>& flows, const std::vector<Message>& messages, std::int64_t forward,
         std::int64_t back) {
  for (const auto& [from, to, rows] : messages) {
    flows.push_back({from, to, double(rows * forward), double(rows * forward)});
    flows.push_back({to, from, double(rows * back)});
  }
}

}  // namespace

EpochTraffic block_traffic(const Options& options, const TrafficShape& shape) {
  const CagnetGrid grid = cagnet_grid(options, shape.ranks);
  const Index broadcast = rows_of(blocks(grid, shape)), merged = rows_of(within_rows(grid, shape));
  EpochTraffic traffic;
  traffic.halo = broadcast * row_bytes(shape, shape.widths) + merged * shape.forward.total();
  traffic.halo_gradient = broadcast * row_bytes(shape, shape.widths) + merged * shape.backward.total();
  traffic.recompute = broadcast * row_bytes(shape, shape.repeated_widths) + merged * shape.repeated.total();
  traffic.gradient = gradient_bytes(shape);
  return traffic;
}

std::vector<PairBytes> block_flows(const Options& options, const TrafficShape& shape,
                                   const std::vector<CutRows>&) {
  const CagnetGrid grid = cagnet_grid(options, shape.ranks);
  const std::int64_t once = row_bytes(shape, shape.widths);
  const TrafficShape::RowBytes &forward = shape.forward, &backward = shape.backward,
                               &repeated = shape.repeated;
  std::vector<PairBytes> flows = gradient_flows(shape);
  add(flows, blocks(grid, shape), once + row_bytes(shape, shape.repeated_widths), once);
  add(flows, within_rows(grid, shape), forward.to_owner + backward.to_owner + repeated.to_owner,
      forward.from_owner + backward.from_owner + repeated.from_owner);
  return flows;
}

CagnetGrid cagnet_grid(const Options& options, int ranks) {
  const std::int64_t given = options.has("replication") ? options.integer("replication") : 1;
  return {ranks, fits_grid(ranks, given) ? int(given) : 1};
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
