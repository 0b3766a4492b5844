// The streams of random numbers of the generator, named in one place so that no two draws share one.
#pragma once

#include "base/random.h"
#include "dataset/generate/generate.h"

namespace atl {

enum class Stream : std::uint64_t {
  kDegree,
  kCommunitySize,
  kCommunityGroup,
  kShuffle,
  kArc,
  kLabel,
  kTopicLabels,
  kTarget,
  kMean,
  kNoise,
  kSplit,
  kEdgeSplit,
  kEdgeNegative,
  kSupervision,
  kMadeFeatures,
};

inline Draws generator_stream(const CommunitySpec& spec, Stream stream) {
  return Draws(spec.seed, Purpose::kGenerator, std::uint64_t(stream));
}

}  // namespace atl
