#include "sampler/kinds/kinds.h"

#include <utility>

#include "base/error.h"

namespace atl {
namespace {

constexpr std::pair<const char*, MakeSets> kSamplers[] = {
    {"neighbour", nullptr},         {"historical", nullptr},
    {"fastgcn", fastgcn_sets},      {"ladies", ladies_sets},
    {"cluster", cluster_sets},      {"saintVertex", saint_vertex_sets},
    {"saintEdge", saint_edge_sets}, {"saintWalk", saint_walk_sets},
    {"uniform", uniform_sets},      {"none", nullptr},
};

}  // namespace

MakeSets find_sets(const std::string& sampler) {
  for (const auto& [name, make] : kSamplers)
    if (sampler == name) return make;
  ATOLL_CHECK(false, "no sampler {}", sampler);
}

}  // namespace atl
