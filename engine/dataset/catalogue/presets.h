// Presets that imitate four real graphs, used in most papers on training, at any scale: the same degrees,
// features, classes, homophily and splits, and partitions with as few cut arcs as the real graph's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "dataset/generate/generate.h"

namespace atl {

/// How well METIS cuts the real graph: the rows that parts read and don't own, divided by all vertices.
struct BoundaryRatio {
  int parts;
  double ratio;
  const char* source;  // publication, or derivation
};

struct Preset {
  CommunitySpec spec;  // at scale 1, named after the preset
  std::vector<BoundaryRatio> boundary;
};

/// The presets reddit, products, yelp and flickr.
std::span<const Preset> presets();

/// Throws Error that lists the known names.
const Preset& find_preset(const std::string& name);

/// The preset with another number of vertices, which hardly changes the boundary ratio. Degrees stay as they
/// are while a class is at least 3 times as large as the average degree (reddit: down to 61k vertices), and
/// shrink in proportion below that. Throws Error for fewer than 12 vertices per class and for more than 100
/// times the real graph's.
CommunitySpec sized_preset(const std::string& name, Index vertices, std::uint64_t seed);

/// sized_preset() with `scale` times the real graph's vertices.
CommunitySpec scaled_preset(const std::string& name, double scale, std::uint64_t seed);

/// The preset that a data set was generated from, or null.
const Preset* preset_of(const DatasetMeta& meta);

}  // namespace atl
