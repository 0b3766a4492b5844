// Generated graphs in the shape of four real ones that most papers on training use, at any scale: the same
// degrees, features, classes, homophily and splits, and cuts as good as the real graph's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dataset/generate/generate.h"

namespace atl {

/// How well METIS cuts the real graph: rows that the parts read and don't own, over all vertices.
struct BoundaryRatio {
  int parts;
  double ratio;
  const char* source;  // where it is published, or how it was worked out
};

struct Preset {
  CommunitySpec spec;  // at scale 1, named after the preset
  std::vector<BoundaryRatio> boundary;
};

/// reddit, products, yelp, flickr.
std::span<const Preset> presets();

/// Throws Error that lists the known names.
const Preset& find_preset(const std::string& name);

/// The preset with another number of vertices; the boundary ratio hardly depends on it. Degrees stay as long
/// as a class is at least 3 times the average degree (reddit: down to 61k vertices), and shrink in proportion
/// below. Throws Error for fewer than 12 vertices a class and for more than 100 times the real graph's.
CommunitySpec sized_preset(const std::string& name, Index vertices, std::uint64_t seed);

/// sized_preset() with `scale` times the real graph's vertices.
CommunitySpec scaled_preset(const std::string& name, double scale, std::uint64_t seed);

/// The preset that a data set was generated from, or null.
const Preset* preset_of(const DatasetMeta& meta);

}  // namespace atl
