#include "simulate/cost_law.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"

namespace atl {
namespace {

constexpr double kShortest = 1e-6;  // seconds: of what is shorter, the clock says little

/// Of so few equations, by elimination; none: they don't say.
std::optional<std::vector<double>> solved(std::vector<std::vector<double>> a) {
  const std::size_t n = a.size();
  for (std::size_t i = 0; i < n; ++i) {
    const auto size = [&](std::size_t row) { return std::abs(a[row][i]); };
    std::size_t most = i;
    for (std::size_t row = i; row < n; ++row)
      if (size(row) > size(most)) most = row;
    if (size(most) < 1e-9) return {};
    std::swap(a[i], a[most]);
    for (std::size_t row = 0; row < n; ++row) {
      const double factor = row == i ? 0 : a[row][i] / a[i][i];
      for (std::size_t k = i; k <= n; ++k) a[row][k] -= factor * a[i][k];
    }
  }
  std::vector<double> x(n);
  for (std::size_t i = 0; i < n; ++i) x[i] = a[i][n] / a[i][i];
  return x;
}

/// Least squares of Σ x · factors = 1 on some of the sizes.
std::optional<Sizes> fit_of(unsigned some, std::span<const Sizes> relative) {
  std::vector<std::size_t> chosen;
  for (std::size_t s = 0; s < kSizes; ++s)
    if ((some >> s & 1) != 0) chosen.push_back(s);
  std::vector<std::vector<double>> normal(chosen.size(), std::vector<double>(chosen.size() + 1));
  for (const Sizes& x : relative)
    for (std::size_t i = 0; i < chosen.size(); ++i) {
      for (std::size_t k = 0; k < chosen.size(); ++k) normal[i][k] += x[chosen[i]] * x[chosen[k]];
      normal[i].back() += x[chosen[i]];
    }
  const auto solution = solved(std::move(normal));
  if (!solution || std::ranges::any_of(*solution, [](double f) { return f < 0; })) return {};
  Sizes factors{};
  for (std::size_t i = 0; i < chosen.size(); ++i) factors[chosen[i]] = (*solution)[i];
  return factors;
}

double product(const Sizes& a, const Sizes& b) {
  double sum = 0;
  for (std::size_t s = 0; s < kSizes; ++s) sum += a[s] * b[s];
  return sum;
}

}  // namespace

Sizes sizes_of(const RankShape& shape) {
  return {1, double(shape.owned), double(shape.halo), double(shape.arcs())};
}

/// The best of all subsets of sizes whose factors aren't below 0 has the least squares under that condition.
Sizes fitted(std::span<const Sizes> sizes, std::span<const double> seconds) {
  Sizes largest{};
  for (const Sizes& each : sizes)
    for (std::size_t s = 0; s < kSizes; ++s) largest[s] = std::max({largest[s], each[s], 1e-300});
  std::vector<Sizes> relative(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < relative.size(); ++i)
    for (std::size_t s = 0; s < kSizes; ++s) relative[i][s] /= largest[s] * std::max(kShortest, seconds[i]);
  // In units in which the equations are of the size of 1.
  double unit = 0;
  for (const Sizes& each : relative) unit = std::max(unit, std::ranges::max(each));
  for (Sizes& each : relative)
    for (double& x : each) x /= unit;
  Sizes best{};
  double least = std::numeric_limits<double>::infinity();
  for (unsigned some = 1; some < 1U << kSizes; ++some) {
    const auto factors = fit_of(some, relative);
    if (!factors) continue;
    double squares = 0;
    for (const Sizes& x : relative) squares += std::pow(product(x, *factors) - 1, 2);
    if (squares < least) least = squares, best = *factors;
  }
  for (std::size_t s = 0; s < kSizes; ++s) best[s] /= unit * largest[s];
  return best;
}

template <class Ranks, class Look>
void CostLaw::for_each_segment(Ranks& rank, Look look) {
  std::map<std::pair<Work, std::int32_t>, int> count;
  std::int64_t epoch = 0;
  for (auto& step : rank.steps) {
    if (step.kind == RecordedStep::Kind::kEpoch) epoch = step.label.epoch, count.clear();
    if (step.kind != RecordedStep::Kind::kCompute) continue;
    const auto& [e, layer, work] = step.label;
    look(Segment{epoch, work, layer, count[{work, layer}]++}, step);
  }
}

CostLaw::CostLaw(const std::vector<Known>& known) {
  std::map<Segment, std::pair<std::vector<Sizes>, std::vector<double>>> found;
  for (const Known& each : known)
    for_each_segment(*each.rank, [&](const Segment& segment, const RecordedStep& step) {
      found[segment].first.push_back(each.sizes);
      found[segment].second.push_back(step.seconds);
    });
  for (const auto& [segment, points] : found) factors_[segment] = fitted(points.first, points.second);
}

bool CostLaw::knows(const RankRecording& rank) const {
  bool all = true;
  for_each_segment(
      rank, [&](const Segment& segment, const RecordedStep&) { all = all && factors_.contains(segment); });
  return all;
}

void CostLaw::apply(const Sizes& sizes, RankRecording& rank) const {
  for_each_segment(rank, [&](const Segment& segment, RecordedStep& step) {
    const auto law = factors_.find(segment);
    if (law == factors_.end())
      fail(
          "--sample: a rank that isn't recorded does work that no recorded one does: {} of layer {} (use a larger --sample, or leave "
          "it out)",
          work_name(std::get<1>(segment)), std::get<2>(segment));
    step.seconds = product(sizes, law->second);
  });
}

double left_out_error(const std::vector<CostLaw::Known>& known) {
  const auto total = [](const RankRecording& rank) {
    double sum = 0;
    for (const RecordedStep& step : rank.steps) sum += step.seconds;
    return sum;
  };
  double error = 0;
  int judged = 0;
  for (std::size_t left = 0; left < known.size(); ++left) {
    std::vector<CostLaw::Known> others = known;
    others.erase(others.begin() + std::ptrdiff_t(left));
    const CostLaw law(others);
    if (!law.knows(*known[left].rank)) continue;
    ++judged;
    RankRecording rank = *known[left].rank;
    law.apply(known[left].sizes, rank);
    error += std::abs(total(rank) / total(*known[left].rank) - 1);
  }
  return error / std::max(1, judged);
}

}  // namespace atl
