#include "simulate/cost_law.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "base/error.h"
#include "simulate/record.h"

namespace atl {
namespace {

constexpr double kShortest = 1e-6;  // seconds: the clock says little of shorter times

/// Solves a few linear equations by elimination; nothing if they have no single solution.
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

/// The factors of the chosen sizes, by least squares of Σ x · factor = 1.
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

/// Tries all subsets of the sizes. The best subset whose factors are all ≥ 0 gives the least-squares solution
/// under that condition.
Sizes fitted(std::span<const Sizes> sizes, std::span<const double> seconds) {
  Sizes largest{};
  for (const Sizes& each : sizes)
    for (std::size_t s = 0; s < kSizes; ++s) largest[s] = std::max({largest[s], each[s], 1e-300});
  std::vector<Sizes> relative(sizes.begin(), sizes.end());
  for (std::size_t i = 0; i < relative.size(); ++i)
    for (std::size_t s = 0; s < kSizes; ++s) relative[i][s] /= largest[s] * std::max(kShortest, seconds[i]);
  // Scales the sizes so that the equations' terms are about 1.
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

// Recordings of jobs with more ranks than there is time to record. Some ranks are recorded by themselves, and
// laws are fitted to these. The laws give the cost of the other ranks' computing from what each holds. What
// the other ranks send is exact, because it follows from sizes (record.h).

namespace {

constexpr std::size_t kOfEachKind = 2;  // ranks of each kind; one can be left out to test the laws

/// Groups of ranks that do the same kind of work: in a pipeline, the ranks of a stage. Each group is sorted
/// from the rank that holds least to the one that holds most.
std::vector<std::vector<Rank>> kinds_of(const std::vector<RankRecording>& ranks,
                                        const std::vector<Sizes>& sizes) {
  std::map<std::set<std::pair<Work, std::int32_t>>, std::vector<Rank>> by_work;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    std::set<std::pair<Work, std::int32_t>> work;
    for (const RecordedStep& step : ranks[r].steps)
      if (step.kind == RecordedStep::Kind::kCompute) work.emplace(step.label.work, step.label.layer);
    by_work[std::move(work)].push_back(Rank(r));
  }
  const auto held = [&](Rank rank) {
    const Sizes& s = sizes[std::size_t(rank)];
    return std::accumulate(s.begin(), s.end(), 0.0);
  };
  std::vector<std::vector<Rank>> kinds;
  for (auto& [work, kind] : by_work) {
    std::ranges::stable_sort(kind, {}, held);
    kinds.push_back(std::move(kind));
  }
  return kinds;
}

/// How many ranks to record of each kind: kOfEachKind, then more of the kinds with the most ranks per
/// recorded rank.
std::vector<std::size_t> shares_of(const std::vector<std::vector<Rank>>& kinds, std::size_t count) {
  std::vector<std::size_t> shares;
  for (const auto& kind : kinds) shares.push_back(std::min(kOfEachKind, kind.size()));
  const std::size_t least = std::accumulate(shares.begin(), shares.end(), std::size_t(0));
  if (count < least)
    fail(
        "--sample: {} ranks are too few: ranks do {} kinds of work, as the stages of a pipeline do, and {} of each kind are "
        "recorded (use --sample {} or more, or --alone)",
        count, kinds.size(), kOfEachKind, least);
  for (std::size_t left = count - least; left > 0; --left) {
    const auto alone = [&](std::size_t k) { return double(kinds[k].size()) / double(shares[k]); };
    std::size_t most = 0;
    for (std::size_t k = 1; k < kinds.size(); ++k)
      if (alone(k) > alone(most)) most = k;
    ++shares[most];
  }
  return shares;
}

/// Chooses ranks of each kind, evenly spread from the one that holds least to the one that holds most, so
/// that laws interpolate and don't extrapolate.
std::vector<Rank> sample_of(const std::vector<std::vector<Rank>>& kinds, std::size_t count) {
  const std::vector<std::size_t> shares = shares_of(kinds, count);
  std::vector<Rank> sample;
  for (std::size_t k = 0; k < kinds.size(); ++k)
    for (std::size_t i = 0; i < shares[k]; ++i)
      sample.push_back(kinds[k][i * (kinds[k].size() - 1) / std::max<std::size_t>(1, shares[k] - 1)]);
  return sample;
}

}  // namespace

Recording record_sample(const Job& job, const Dataset& dataset, const PreparedGraph& prepared,
                        const RecordOptions& options, DryInputs& inputs,
                        const std::function<void(Rank)>& said) {
  Recording recording{.epochs = options.epochs, .at_once = options.at_once, .sampled = options.sample};
  std::vector<Sizes> sizes;
  for (Rank rank = 0; rank < Rank(inputs.ranks()); ++rank) {
    const DryRunInput in = inputs.of(rank);
    sizes.push_back(sizes_of(in.training));
    recording.ranks.push_back(dry_recording(in, options.epochs));
  }
  const std::vector<Rank> sample = sample_of(kinds_of(recording.ranks, sizes), std::size_t(options.sample));
  const std::vector<RankRecording> recorded =
      record_alone(job, dataset, prepared, options, sample, recording.spread, said);
  std::vector<CostLaw::Known> known;
  for (std::size_t i = 0; i < sample.size(); ++i)
    known.push_back({sizes[std::size_t(sample[i])], &recorded[i]});
  const CostLaw law(known);
  for (std::size_t r = 0; r < sizes.size(); ++r) law.apply(sizes[r], recording.ranks[r]);
  recording.law_error = left_out_error(known);
  for (std::size_t i = 0; i < sample.size(); ++i) recording.ranks[std::size_t(sample[i])] = recorded[i];
  return recording;
}

}  // namespace atl
