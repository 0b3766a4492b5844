#include "job/strategies/boundary_rows.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "job/field.h"

namespace atl {
namespace {

/// The bytes that a sum over all ranks moves (comm/all_reduce.h). For a small sum, each rank sends its values
/// to each other rank. For a larger one, each rank gathers all others' values of its slice of 1/P, sums them
/// and sends the result to all.
std::int64_t sum_bytes(int ranks, std::int64_t bytes) {
  constexpr std::int64_t kDirectBytes = 32 * 1024;
  const std::int64_t others = ranks - 1;
  return ranks > 2 && bytes > kDirectBytes ? 2 * others * bytes : ranks * others * bytes;
}

}  // namespace

Layout consecutive_ranks(const Job& job) {
  const int ranks = job.placement.ranks, together = std::max(1, job.placement.ranks_per_server);
  Layout layout;
  layout.ranks_are_alike = true;
  for (Rank first = 0; first < ranks; first += together) {
    auto& group = layout.groups.emplace_back();
    for (Rank rank = first; rank < std::min(first + together, ranks); ++rank) group.push_back(rank);
  }
  return layout;
}

Field halo_rows_option(const char* kind, const char* initial, const std::string& also) {
  return strategy_option(
      kind, "haloRows", std::string(initial),
      {.description =
           "what ranks send for a layer that multiplies by its weights before it sums over neighbours, because its "
           "output is narrower" +
           also,
       .choices = {{"products", "products: fewer bytes, and no rank multiplies rows of others"},
                   {"inputs", "rows of the layer's input, as in the papers' baselines"}}});
}

bool sends_products(const Job& job) {
  return job.strategy.options.text("haloRows") == "products";
}

std::int64_t gradient_bytes(const TrafficShape& shape) {
  std::int64_t sum = 0;
  for (const Index count : shape.parameters) sum += sum_bytes(shape.ranks, count * shape.bytes_per_weight);
  return sum;
}

std::vector<PairBytes> gradient_flows(const TrafficShape& shape) {
  const int pairs = shape.ranks * (shape.ranks - 1);
  const double each = pairs == 0 ? 0 : double(gradient_bytes(shape)) / pairs;
  std::vector<PairBytes> flows;
  for (Rank from = 0; from < shape.ranks; ++from)
    for (Rank to = 0; to < shape.ranks; ++to)
      if (from != to) flows.push_back({from, to, each});
  return flows;
}

Index sampled_rows(double rate, Index boundary) {
  if (rate <= 0 || boundary == 0) return 0;
  // In floating point 0.29 · 100 is slightly less than 29; kDecimal makes up for it.
  constexpr double kDecimal = 1 + 2 * std::numeric_limits<double>::epsilon();
  return std::clamp(Index(std::floor(rate * double(boundary) * kDecimal)), Index(1), boundary);
}

TrafficShape fetched_once(const TrafficShape& shape) {
  TrafficShape once = shape;
  once.repeated_widths.clear();
  return once;
}

EpochTraffic boundary_traffic(const Options&, const TrafficShape& shape) {
  EpochTraffic traffic;
  for (const Index width : shape.widths) traffic.halo += shape.halo_rows * width * shape.bytes_per_value;
  traffic.halo_gradient = traffic.halo;
  for (const Index width : shape.repeated_widths) {
    traffic.recompute += shape.halo_rows * width * shape.bytes_per_value;
  }
  traffic.gradient = gradient_bytes(shape);
  return traffic;
}

std::vector<PairBytes> boundary_flows(const Options&, const TrafficShape& shape,
                                      const std::vector<CutRows>& cut) {
  // Columns that a row of the cut brings, and those whose gradients it sends back.
  Index forward = 0, back = 0;
  for (const Index width : shape.widths) back += width;
  for (const Index width : shape.repeated_widths) forward += width;
  forward += back;
  std::vector<PairBytes> flows = gradient_flows(shape);
  for (const auto& [from, to, rows] : cut) {
    const auto brought = double(rows * forward * shape.bytes_per_value);
    flows.push_back({from, to, brought, brought});
    flows.push_back({to, from, double(rows * back * shape.bytes_per_value)});
  }
  return flows;
}

}  // namespace atl
