// A keyed permutation of 0 … n − 1 that costs no memory: a Feistel network over the smallest even number of
// bits that covers n. A result that isn't below n is permuted again until it is (Black & Rogaway, "Ciphers
// with arbitrary finite domains", 2002).
#pragma once

#include <array>
#include <cstdint>

#include "base/random.h"
#include "base/types.h"
#include "dataset/generate/generate.h"

namespace atl {

class Shuffle {
 public:
  Shuffle(Index n, Draws draws) : n_(std::uint32_t(n)) {
    while ((std::uint64_t(1) << (2 * half_)) < std::uint64_t(n)) ++half_;
    mask_ = (std::uint32_t(1) << half_) - 1;
    for (std::size_t r = 0; r < keys_.size(); ++r) keys_[r] = std::uint32_t(draws.bits64_at(0, r));
  }

  VertexId operator()(VertexId x) const {
    return walk(x, [this](std::uint32_t v) { return forward(v); });
  }
  VertexId inverse(VertexId x) const {
    return walk(x, [this](std::uint32_t v) { return backward(v); });
  }

 private:
  template <class Step>
  VertexId walk(VertexId x, Step step) const {
    std::uint32_t v = std::uint32_t(x);
    do v = step(v);
    while (v >= n_);
    return VertexId(v);
  }
  std::uint32_t forward(std::uint32_t v) const {
    std::uint32_t left = v >> half_, right = v & mask_;
    for (std::uint32_t key : keys_) {
      const std::uint32_t next = left ^ (mix32(right ^ key) & mask_);
      left = right;
      right = next;
    }
    return (left << half_) | right;
  }
  std::uint32_t backward(std::uint32_t v) const {
    std::uint32_t left = v >> half_, right = v & mask_;
    for (std::size_t r = keys_.size(); r-- > 0;) {
      const std::uint32_t before = right ^ (mix32(left ^ keys_[r]) & mask_);
      right = left;
      left = before;
    }
    return (left << half_) | right;
  }

  std::uint32_t n_;
  int half_ = 1;  // bits of each half
  std::uint32_t mask_ = 0;
  std::array<std::uint32_t, 4> keys_{};
};

enum class DrawStream : std::uint64_t {
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

inline Draws generator_stream(const CommunitySpec& spec, DrawStream stream) {
  return Draws(spec.seed, Purpose::kGenerator, std::uint64_t(stream));
}

}  // namespace atl
