// The line on which a generated graph's vertices lie before their ids are shuffled. Each vertex takes up its
// expected degree, so a uniform point on any interval is a vertex drawn by degree (the degree-corrected block
// model, Karrer & Newman 2011). Communities are consecutive intervals. Lengths are whole numbers.
#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"
#include "dataset/generate/generate.h"

namespace atl {

/// A length or place on the line; kMassPerArc is the length of one expected arc.
using Mass = std::uint64_t;
inline constexpr double kMassPerArc = 256;

__extension__ typedef unsigned __int128 Product;  // of two 64-bit numbers

/// Maps 64 uniform bits to 0 … length − 1.
constexpr Mass below(std::uint64_t bits, Mass length) {
  return Mass((Product(bits) * length) >> 64);
}

class Line {
 public:
  explicit Line(const CommunitySpec& spec);

  Index vertices() const { return Index(start_.size()) - 1; }
  Mass length() const { return start_.back(); }
  Mass start(VertexId v) const { return start_[std::size_t(v)]; }
  Mass mass(VertexId v) const { return start_[std::size_t(v) + 1] - start_[std::size_t(v)]; }
  /// The vertex at a place.
  VertexId at(Mass place) const;

  int communities() const { return int(first_.size()) - 1; }
  int community(VertexId v) const;
  VertexId first(int community) const {
    return first_[std::size_t(community)];
  }  // first(communities()) is the end
  int group(int community) const { return group_[std::size_t(community)]; }
  /// Share of the line that each group holds.
  const std::vector<double>& group_share() const { return share_; }
  int groups() const { return int(share_.size()); }

 private:
  void place_vertices(const CommunitySpec& spec);
  void cut_communities(const CommunitySpec& spec);
  void assign_groups(const CommunitySpec& spec);

  std::vector<Mass> start_;      // (vertices + 1)
  std::vector<VertexId> guide_;  // for each 2^guide_shift_ of the line, the first vertex to search from
  int guide_shift_ = 0;
  std::vector<VertexId> first_;  // (communities + 1)
  std::vector<int> group_;       // (communities) the class, or topic, of each community
  std::vector<double> share_;    // (groups)
};

/// Number of topics if multi-label, otherwise of classes.
int group_count(const CommunitySpec& spec);

}  // namespace atl
