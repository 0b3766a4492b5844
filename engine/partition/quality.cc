#include "partition/quality.h"

#include "base/readable.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <numeric>

namespace atl {
namespace {

Index sum(const std::vector<Index>& values) {
  return std::accumulate(values.begin(), values.end(), Index(0));
}

/// Largest over mean; 1 where there is nothing to balance.
double balance(const std::vector<Index>& values) {
  const Index total = sum(values);
  if (total == 0) return 1;
  return double(*std::max_element(values.begin(), values.end())) * double(values.size()) / double(total);
}

double share(Index part, Index whole) {
  return whole == 0 ? 0 : double(part) / double(whole);
}

}  // namespace

void PartitionQuality::set_balances() {
  balance_vertices = balance(owned);
  balance_arcs = balance(arcs);
  balance_training = balance(training);
}

std::string to_text(const PartitionQuality& q) {
  std::string text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}: {} rows exchanged per layer ({:.3f} per vertex), {} arcs cut ({:.1f} %)\n",
                 counted_text(std::int64_t(q.owned.size()), "part"), q.volume, share(q.volume, sum(q.owned)),
                 q.cut_arcs, 100 * share(q.cut_arcs, sum(q.arcs)));
  fmt::format_to(out, "largest part / mean: vertices {:.3f}, arcs {:.3f}, training vertices {:.3f}\n",
                 q.balance_vertices, q.balance_arcs, q.balance_training);
  fmt::format_to(out, "{:>5} {:>12} {:>12} {:>12} {:>11} {:>14} {:>12}\n", "part", "vertices", "boundary",
                 "halo", "halo ratio", "arcs", "training");
  for (std::size_t p = 0; p < q.owned.size(); ++p)
    fmt::format_to(out, "{:>5} {:>12} {:>12} {:>12} {:>11.3f} {:>14} {:>12}\n", p, q.owned[p], q.boundary[p],
                   q.halo[p], share(q.halo[p], q.owned[p]), q.arcs[p], q.training[p]);
  return text;
}

}  // namespace atl
