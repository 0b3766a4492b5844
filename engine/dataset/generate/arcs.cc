#include "dataset/generate/arcs.h"

#include <algorithm>

#include "base/random.h"

namespace atl {

/// Octaves from the longest down, those after long_shares each octave_growth times the share of the one before, until
/// far_share of the arcs leave or an octave is no longer than a community.
ArcModel::ArcModel(const CommunitySpec& spec, const Line& line)
    : line_(line), district_(line.length() / Mass(spec.districts) + 1) {
  const double budget = spec.far_share > 0 ? spec.far_share : (1 - spec.homophily) / 2;
  const Mass community = line.length() / Mass(line.communities());
  double sum = 0, share = 0;
  for (int octave = 1; sum < budget && (line.length() >> octave) > community / 2; ++octave) {
    const auto given = std::size_t(octave) <= spec.long_shares.size();
    share = given ? spec.long_shares[std::size_t(octave) - 1] : share * spec.octave_growth;
    sum = std::min(budget, sum + share);
    until_.push_back(std::uint64_t(sum * 0x1p32));
  }
}

VertexId ArcModel::draw(VertexId u, std::uint64_t bits, bool far) const {
  const std::uint64_t more = mix64(bits);
  std::uint64_t choice = bits >> 32;
  if (far && !until_.empty()) choice = below(bits, until_.back());
  if (!until_.empty() && choice < until_.back()) return draw_far(u, choice, more);
  const int community = line_.community(u);
  const Mass start = line_.start(line_.first(community)), end = line_.start(line_.first(community + 1));
  return line_.at(start + below(more, end - start));
}

/// Away by the distance; the other way where the line, or the district that is longer than it, ends before.
VertexId ArcModel::draw_far(VertexId u, std::uint64_t choice, std::uint64_t bits) const {
  const auto octave = std::upper_bound(until_.begin(), until_.end(), choice) - until_.begin();
  const Mass shortest = line_.length() >> (octave + 1);
  const Mass distance = shortest + below(bits, shortest);
  const Mass here = line_.start(u) + line_.mass(u) / 2;
  const bool stays = 2 * shortest <= district_;
  const Mass begin = stays ? here / district_ * district_ : 0;
  const Mass end = stays ? std::min(begin + district_, line_.length()) : line_.length();
  const bool left_fits = here >= begin + distance, right_fits = here + distance < end;
  if (!left_fits && !right_fits) return kNoVertex;
  const bool left = left_fits && (!right_fits || (bits & 1));
  return line_.at(left ? here - distance : here + distance);
}

}  // namespace atl
