#include "command/synthetic.h"

#include <fmt/format.h>

#include "base/sha256.h"
#include "dataset/catalogue/presets.h"

namespace atl {

CommunitySpec community_spec(const SyntheticSpec& s) {
  CommunitySpec spec;
  if (s.preset.empty()) {
    spec.vertices = s.vertices;
  } else if (s.vertices > 0) {
    spec = sized_preset(s.preset, s.vertices, s.seed);
  } else {
    spec = scaled_preset(s.preset, s.scale, s.seed);
  }
  if (s.average_degree > 0) spec.average_degree = s.average_degree;
  if (s.features > 0) spec.features = s.features;
  if (s.classes > 0) spec.classes = int(s.classes);
  if (s.homophily >= 0) spec.homophily = s.homophily;
  if (s.train_share >= 0) spec.train = s.train_share;
  spec.seed = s.seed;
  return spec;
}

std::filesystem::path synthetic_folder(const std::filesystem::path& data_root, const SyntheticSpec& s) {
  std::string all = fmt::format("{} {} {} {} {} {} {} {} {}", s.kind, s.preset, s.scale, s.vertices,
                                s.average_degree, s.features, s.classes, s.homophily, s.seed);
  if (s.train_share >= 0) all += fmt::format(" {}", s.train_share);  // others keep their names
  return data_root / "generated" /
         ((s.preset.empty() ? s.kind : s.preset) + "-" + sha256_hex(all).substr(0, 12));
}

}  // namespace atl
