#include "plan/comm_share.h"

#include <algorithm>

#include "base/error.h"

namespace atl {
namespace {

/// communication = fixed + bits / rate
struct Line {
  double fixed, bits;
};

/// Least squares over all measurements.
Line line_through(std::span<const SharedEpoch> measured) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const SharedEpoch& m : measured) {
    x += 1 / m.rate, y += m.communication;
    xx += 1 / (m.rate * m.rate), xy += m.communication / m.rate;
  }
  const auto n = double(measured.size());
  const double bits = (n * xy - x * y) / (n * xx - x * x), fixed = (y - bits * x) / n;
  if (measured.size() > 1 && bits > 0 && fixed >= 0) return {fixed, bits};
  return {0, measured.back().communication * measured.back().rate};
}

double mean_compute(std::span<const SharedEpoch> measured) {
  double sum = 0;
  for (const SharedEpoch& m : measured) sum += m.compute;
  return sum / double(measured.size());
}

}  // namespace

double rate_for_share(double share, std::span<const SharedEpoch> measured) {
  ATOLL_CHECK(!measured.empty() && share > 0 && share < 1, "{} measurements for a share of {}",
              measured.size(), share);
  if (!(measured.back().communication > 0)) fail("--comm-share: the job doesn't communicate; use more ranks");
  const Line line = line_through(measured);
  const double compute = mean_compute(measured), wanted = compute * share / (1 - share);
  if (wanted <= line.fixed)
    fail(
        "--comm-share: {:g} is too small: at any link rate an epoch has {:.3g} s of communication and "
        "{:.3g} s of compute; use more than {:.2f}, or give the ranks more work",
        share, line.fixed, compute, line.fixed / (line.fixed + compute));
  return line.bits / (wanted - line.fixed);
}

}  // namespace atl
