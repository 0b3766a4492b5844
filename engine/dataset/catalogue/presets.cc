// Sizes, features and classes come from the data sets' own papers (Hamilton et al. 2017; Hu et al. 2020; Zeng
// et al. 2020). Homophily is the share of arcs that join equal labels in the real graph. Largest degrees are
// the real graphs', rounded. Tail exponents are chosen here, not published. long_shares, octave_growth,
// districts, far_share and community_size were fitted with METIS (edge cut) to the boundary ratios below, for
// reddit and products at scale 1; docs/datasets.md has the results.
//
// Boundary ratios, from the most direct to the least:
// - GNNPipe (Chen et al. 2023), Table 4: bytes per epoch of graph-parallel GCN, 32 layers × 100
//   units × forward and backward × 4 bytes per row, 8 parts.
// - DGL, pull request 3821: 1,848,083 rows for ogbn-products in 10 parts, METIS minimising volume.
// - PipeGCN (Wan et al. 2022), Tables 2, 4 and 6: seconds of communication per epoch, converted by the
//   bandwidth for which their products on 10 parts gives the number above.
#include "dataset/catalogue/describe.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace atl {
namespace {

constexpr const char* kGnnPipe = "GNNPipe, Table 4";
constexpr const char* kDglPull = "DGL pull request 3821";
constexpr const char* kPipeGcn = "PipeGCN, Tables 2, 4, 6 (from times)";
constexpr const char* kBetween = "stated (between the published ones)";

// Each line holds several numbers; clang-format would break these lines.
// clang-format off
const std::vector<Preset>& table() {
  static const std::vector<Preset> all{
      {{.name = "reddit", .vertices = 232965, .average_degree = 491.99, .features = 602, .classes = 41,
        .homophily = 0.756, .tail_exponent = 2.3, .largest_degree = 21657,
        .community_size = 4800, .long_shares = {0.00035, 0.0004, 0.015}, .octave_growth = 1.0, .districts = 4,
        .far_share = 0.06,
        .signal = 1.5, .train = 0.66, .validation = 0.10},
       {{2, 0.36, kPipeGcn}, {4, 0.85, kPipeGcn}, {8, 2.61, kGnnPipe}}},
      {{.name = "products", .vertices = 2449029, .average_degree = 50.52, .features = 100, .classes = 47,
        .homophily = 0.81, .tail_exponent = 2.5, .largest_degree = 17481,
        .community_size = 1000, .long_shares = {0.00097, 0.00128}, .octave_growth = 1.7, .far_share = 0.1,
        .class_skew = 1.0, .signal = 2.0, .train = 0.08, .validation = 0.02},
       {{2, 0.17, kBetween}, {4, 0.33, kBetween}, {5, 0.40, kPipeGcn}, {8, 0.62, kBetween}, {10, 0.755, kDglPull}}},
      {{.name = "yelp", .vertices = 716847, .average_degree = 19.46, .features = 300, .classes = 100,
        .homophily = 0.6, .tail_exponent = 2.3, .largest_degree = 4886,
        .community_size = 300, .long_shares = {0.0022}, .octave_growth = 1.7, .far_share = 0.12,
        .signal = 1.5, .multi_label = true, .train = 0.75, .validation = 0.10},
       {{2, 0.16, kBetween}, {3, 0.24, kPipeGcn}, {4, 0.32, kBetween}, {6, 0.49, kPipeGcn}, {8, 0.66, kBetween}}},
      {{.name = "flickr", .vertices = 89250, .average_degree = 10.08, .features = 500, .classes = 7,
        .homophily = 0.32, .tail_exponent = 2.3, .largest_degree = 5425,
        .community_size = 160, .long_shares = {0.06}, .octave_growth = 1.7, .far_share = 0.6,
        .class_skew = 1.2, .signal = 1.0, .train = 0.50, .validation = 0.25},
       {{2, 0.5, "stated"}, {4, 1.3, "stated"}, {8, 2.16, kGnnPipe}}},
  };
  return all;
}
// clang-format on

/// A class must be several times larger than a vertex's neighbourhood, or its vertices can't find the
/// neighbours that homophily asks for. If a scaled graph is too small for that, degrees shrink with it, and
/// so do communities. A vertex keeps its number of long arcs, which determine the boundary ratio.
void thin_out(CommunitySpec& spec) {
  const double room = double(spec.vertices) / (3.0 * spec.classes);
  const double factor = std::min(1.0, room / spec.average_degree);
  spec.average_degree *= factor;
  spec.largest_degree *= factor;
  spec.community_size = std::max<Index>(16, Index(std::llround(double(spec.community_size) * factor)));
  for (double& share : spec.long_shares) share = std::min(share / factor, spec.far_share / 4);
}

}  // namespace

std::span<const Preset> presets() {
  return table();
}

const Preset& find_preset(const std::string& name) {
  std::string known;
  for (const Preset& preset : table()) {
    if (preset.spec.name == name) return preset;
    known += (known.empty() ? "" : ", ") + preset.spec.name;
  }
  fail("synthetic graph: preset '{}' is unknown; known are {}", name, known);
}

const Preset* preset_of(const DatasetMeta& meta) {
  if (!meta.source.starts_with("generated:")) return nullptr;
  const auto found = std::find_if(table().begin(), table().end(),
                                  [&](const Preset& preset) { return preset.spec.name == meta.name; });
  return found == table().end() ? nullptr : &*found;
}

CommunitySpec sized_preset(const std::string& name, Index vertices, std::uint64_t seed) {
  CommunitySpec spec = find_preset(name).spec;
  const Index least = 12 * spec.classes, most = 100 * spec.vertices;
  if (vertices < least || vertices > most) {
    fail("synthetic graph: {} vertices of preset {}: must be between {} (12 per class) and {}", vertices,
         name, least, most);
  }
  spec.vertices = vertices;
  spec.seed = seed;
  thin_out(spec);
  return spec;
}

CommunitySpec scaled_preset(const std::string& name, double scale, std::uint64_t seed) {
  const double vertices = scale * double(find_preset(name).spec.vertices);
  if (!(scale > 0 && scale <= 100)) {
    fail("synthetic graph: scale {} of preset {}: must be above 0 and at most 100", scale, name);
  }
  return sized_preset(name, Index(std::llround(vertices)), seed);
}

}  // namespace atl
