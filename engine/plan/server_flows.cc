// Bytes between a job's servers, in so few numbers that a pod's log and a ConfigMap can hold them. Many
// servers that all talk to each other are more pairs than that: then the pairs that stand out are listed, and
// all others have the mean of their bytes.
#include "plan/traffic.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace atl {
namespace {

std::vector<int> server_of_rank(const Layout& layout) {
  std::vector<int> server;
  for (std::size_t s = 0; s < layout.groups.size(); ++s)
    for (const Rank rank : layout.groups[s]) {
      server.resize(std::max(server.size(), std::size_t(rank) + 1));
      server[std::size_t(rank)] = int(s);
    }
  return server;
}

/// A symmetric matrix's upper half, by rows.
class Pairs {
 public:
  explicit Pairs(std::size_t servers) : servers_(servers), bytes_(servers * (servers - 1) / 2, 0.0) {}

  double& at(std::size_t a, std::size_t b) {
    if (a > b) std::swap(a, b);
    return bytes_[a * (2 * servers_ - a - 1) / 2 + (b - a - 1)];
  }
  const std::vector<double>& bytes() const { return bytes_; }

 private:
  const std::size_t servers_;
  std::vector<double> bytes_;
};

/// A range of the sorted amounts, to leave out of the list: the one that differs least among those that spare
/// only `but` amounts, with every amount equal to its ends.
struct Window {
  std::size_t first = 0, last = 0;
};
Window most_alike(const std::vector<double>& sorted, std::size_t but) {
  const std::size_t size = sorted.size() - but;
  Window window{0, size};
  for (std::size_t first = 1; first <= but; ++first)
    if (sorted[first + size - 1] - sorted[first] < sorted[window.last - 1] - sorted[window.first])
      window = {first, first + size};
  while (window.first > 0 && sorted[window.first - 1] == sorted[window.first]) --window.first;
  while (window.last < sorted.size() && sorted[window.last] == sorted[window.last - 1]) ++window.last;
  return window;
}

}  // namespace

ServerFlows server_flows(const Layout& layout, std::span<const PairBytes> between_ranks, std::size_t most) {
  const std::size_t servers = layout.groups.size();
  ServerFlows flows;
  if (servers < 2) return flows;
  const std::vector<int> server = server_of_rank(layout);
  Pairs pairs(servers);
  for (const PairBytes& flow : between_ranks) {
    const int from = server[std::size_t(flow.from)], to = server[std::size_t(flow.to)];
    if (from != to) pairs.at(std::size_t(from), std::size_t(to)) += flow.bytes;
  }
  double least = 0, greatest = 0;  // of the unlisted pairs, both included
  const auto talking = std::size_t(std::ranges::count_if(pairs.bytes(), [](double b) { return b > 0; }));
  if (talking > most) {
    std::vector<double> sorted = pairs.bytes();
    std::ranges::sort(sorted);
    const Window window = most_alike(sorted, most);
    least = sorted[window.first];
    greatest = sorted[window.last - 1];
    const double sum = std::accumulate(sorted.begin() + std::ptrdiff_t(window.first),
                                       sorted.begin() + std::ptrdiff_t(window.last), 0.0);
    flows.unlisted = std::round(sum / double(window.last - window.first));
  }
  for (std::size_t a = 0; a < servers; ++a)
    for (std::size_t b = a + 1; b < servers; ++b)
      if (const double bytes = pairs.at(a, b); bytes < least || bytes > greatest)
        flows.listed.push_back({int(layout.groups[a].front()), int(layout.groups[b].front()), bytes});
  return flows;
}

}  // namespace atl
