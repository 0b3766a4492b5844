#include "dataset/generate/line.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/error.h"
#include "base/random.h"
#include "dataset/generate/shuffle.h"

namespace atl {
namespace {

/// A distribution of density ~ x^-exponent on [1, top]; quantile() is its inverse distribution function.
struct BoundedPareto {
  double exponent, top;

  double quantile(double u) const {
    const double a = 1 - exponent;
    if (std::abs(a) < 1e-6) return std::pow(top, u);
    return std::pow(1 + u * (std::pow(top, a) - 1), 1 / a);
  }
  /// Averages quantile() over 4096 equal slices of probability, because the mean must agree with what
  /// quantile() returns.
  double mean() const {
    double sum = 0;
    for (int i = 0; i < 4096; ++i) sum += quantile((i + 0.5) / 4096);
    return sum / 4096;
  }
  /// The distribution whose largest value is `ratio` times its mean.
  static BoundedPareto with_top_over_mean(double exponent, double ratio) {
    double low = 1, high = 1e9;
    for (int i = 0; i < 100; ++i) {
      const double middle = std::sqrt(low * high);
      (middle / BoundedPareto{exponent, middle}.mean() < ratio ? low : high) = middle;
    }
    return {exponent, low};
  }
};

double largest_degree(const CommunitySpec& spec) {
  const double wanted = spec.largest_degree > 0 ? spec.largest_degree : 40 * spec.average_degree;
  return std::clamp(wanted, spec.average_degree, std::max(spec.average_degree, double(spec.vertices) / 8));
}

double mean_community(const CommunitySpec& spec) {
  const double wanted =
      spec.community_size > 0 ? double(spec.community_size) : std::max(64.0, 16 * spec.average_degree);
  return std::min(wanted, double(spec.vertices) / group_count(spec));
}

}  // namespace

int group_count(const CommunitySpec& spec) {
  return spec.multi_label ? std::clamp(spec.classes / 2, 2, 64) : spec.classes;
}

Line::Line(const CommunitySpec& spec) {
  place_vertices(spec);
  cut_communities(spec);
  assign_groups(spec);
}

void Line::place_vertices(const CommunitySpec& spec) {
  const auto n = std::size_t(spec.vertices);
  const auto degrees =
      BoundedPareto::with_top_over_mean(spec.tail_exponent, largest_degree(spec) / spec.average_degree);
  const double unit = kMassPerArc * spec.average_degree / degrees.mean();
  const Draws draws = generator_stream(spec, DrawStream::kDegree);
  start_.resize(n + 1);
  start_[0] = 0;
  for (std::size_t v = 0; v < n; ++v) {
    const double degree = unit * degrees.quantile(draws.uniform_at(v, 0));
    start_[v + 1] = start_[v] + std::max<Mass>(1, Mass(std::llround(degree)));
  }
  while ((length() >> guide_shift_) > n) ++guide_shift_;
  guide_.resize(std::size_t(length() >> guide_shift_) + 1);
  for (std::size_t slot = 0, v = 0; slot < guide_.size(); ++slot) {
    while (v + 1 < n && start_[v + 1] <= Mass(slot) << guide_shift_) ++v;
    guide_[slot] = VertexId(v);
  }
}

VertexId Line::at(Mass place) const {
  VertexId v = guide_[std::size_t(place >> guide_shift_)];
  while (start_[std::size_t(v) + 1] <= place) ++v;
  return v;
}

/// Sizes ~ size^-2 over a decade, which is what community detection finds in real graphs (Lancichinetti et
/// al. 2008), scaled so that they add up to the number of vertices.
void Line::cut_communities(const CommunitySpec& spec) {
  const int wanted =
      std::max(group_count(spec), int(std::llround(double(spec.vertices) / mean_community(spec))));
  const Draws draws = generator_stream(spec, DrawStream::kCommunitySize);
  const BoundedPareto sizes{2.0, 10.0};
  std::vector<double> size(static_cast<std::size_t>(wanted));
  for (std::size_t c = 0; c < size.size(); ++c) size[c] = sizes.quantile(draws.uniform_at(c, 0));
  const double total = std::accumulate(size.begin(), size.end(), 0.0);
  first_.assign(1, 0);
  double sum = 0;
  for (std::size_t c = 0; c < size.size(); ++c) {
    sum += size[c];
    // Every community keeps at least one vertex after rounding.
    const Index least = Index(first_.back()) + 1, most = spec.vertices - Index(size.size() - 1 - c);
    first_.push_back(
        VertexId(std::clamp(Index(std::llround(sum / total * double(spec.vertices))), least, most)));
  }
}

int Line::community(VertexId v) const {
  return int(std::upper_bound(first_.begin(), first_.end(), v) - first_.begin()) - 1;
}

/// Assigns communities, in random order, each to the group that is furthest below its due share.
void Line::assign_groups(const CommunitySpec& spec) {
  const auto groups = std::size_t(group_count(spec));
  std::vector<double> due(groups), held(groups, 0.0);
  for (std::size_t g = 0; g < groups; ++g) due[g] = std::pow(double(g + 1), -spec.class_skew);
  std::vector<int> order(first_.size() - 1);
  std::iota(order.begin(), order.end(), 0);
  const Draws draws = generator_stream(spec, DrawStream::kCommunityGroup);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return draws.bits64_at(std::uint64_t(a), 0) < draws.bits64_at(std::uint64_t(b), 0);
  });
  group_.resize(order.size());
  for (int c : order) {
    std::size_t poorest = 0;
    for (std::size_t g = 1; g < groups; ++g) {
      if (held[g] * due[poorest] < held[poorest] * due[g]) poorest = g;
    }
    group_[std::size_t(c)] = int(poorest);
    held[poorest] += double(start(first(c + 1)) - start(first(c)));
  }
  share_ = held;
  for (double& share : share_) share /= double(length());
}

}  // namespace atl
