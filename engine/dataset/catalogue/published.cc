// Sources:
// - PyG: tables of statistics in the documentation of torch_geometric.datasets (arcs in both directions;
//   Planetoid's without self-loops).
// - DGL: the documentation of dgl.data (CiteSeer and PubMed with self-loops).
// - OGB: Hu et al. 2020, Table 2 (arcs as stored), features and classes from ogb.stanford.edu; with reverses:
//   counted in the same files, duplicates dropped.
// - Platonov et al. 2023 and Rozemberczki et al. 2019: counted in the files that go with those papers,
//   reverses added, duplicates dropped.
#include "dataset/catalogue/describe.h"

#include <fmt/format.h>
#include <array>
#include <cctype>

#include "base/text.h"

namespace atl {
namespace {

constexpr const char* kPyg = "PyG's documentation";
constexpr const char* kDgl = "DGL's documentation, self-loops kept";
constexpr const char* kSaint = "GraphSAINT's files, as PyG documents them";
constexpr const char* kOgb = "OGB, Hu et al. 2020, reverses added";
constexpr const char* kOgbStored = "OGB, Hu et al. 2020, arcs as stored";
constexpr const char* kPlatonov = "Platonov et al. 2023's files, reverses added";
constexpr const char* kMusae = "MUSAE's files, Rozemberczki et al. 2019, reverses added";

constexpr auto kPublished = std::to_array<PublishedCounts>({
    {"cora", 2708, 10556, 1433, 7, kPyg},
    {"citeseer", 3327, 9104, 3703, 6, kPyg},
    {"citeseer", 3327, 9228, 3703, 6, kDgl},
    {"pubmed", 19717, 88648, 500, 3, kPyg},
    {"pubmed", 19717, 88651, 500, 3, kDgl},
    {"amazoncomputers", 13752, 491722, 767, 10, kPyg},
    {"amazonphoto", 7650, 238162, 745, 8, kPyg},
    {"coauthorcs", 18333, 163788, 6805, 15, kPyg},
    {"coauthorphysics", 34493, 495924, 8415, 5, kPyg},
    {"reddit", 232965, 114615892, 602, 41, "PyG's and DGL's documentation"},
    {"reddit", 232965, 23213838, 602, 41, kSaint},
    {"flickr", 89250, 899756, 500, 7, kSaint},
    {"yelp", 716847, 13954819, 300, 100, kSaint},
    {"amazonproducts", 1569960, 264339468, 200, 107, kSaint},
    {"ogbnarxiv", 169343, 2315598, 128, 40, kOgb},
    {"ogbnarxiv", 169343, 1166243, 128, 40, kOgbStored},
    {"ogbnproducts", 2449029, 123718280, 100, 47, kOgb},
    {"ogbnproducts", 2449029, 61859140, 100, 47, kOgbStored},
    {"actor", 7600, 53318, 932, 5, kPlatonov},
    {"chameleon", 2277, 62742, 2325, 5, kPlatonov},
    {"squirrel", 5201, 396706, 2089, 5, kPlatonov},
    {"squirrelfiltered", 2223, 93996, 2089, 5, kPlatonov},
    {"tolokers", 11758, 1038000, 10, 2, kPlatonov},
    {"musaefacebook", 22470, 341825, 4714, 4, kMusae},
    {"musaegithub", 37700, 578006, 4005, 2, kMusae},
});

std::string letters_and_digits(const std::string& name) {
  std::string out;
  for (unsigned char c : name) {
    if (std::isalnum(c)) out += char(std::tolower(c));
  }
  return out;
}

std::vector<std::string> differences(const DatasetMeta& meta, const PublishedCounts& published) {
  std::vector<std::string> found;
  const auto compare = [&](const char* what, Index here, Index there) {
    if (here == there) return;
    found.push_back(fmt::format("{} {} instead of {}", what, count_text(here), count_text(there)));
  };
  compare("vertices", meta.vertices, published.vertices);
  compare("arcs", meta.arcs, published.arcs);
  compare("features", meta.features, published.features);
  compare("classes", meta.classes, published.classes);
  return found;
}

}  // namespace

std::span<const PublishedCounts> published_counts() {
  return kPublished;
}

std::optional<PublishedComparison> compare_with_published(const DatasetMeta& meta) {
  if (preset_of(meta) != nullptr) return {};
  const std::string name = letters_and_digits(meta.name);
  std::optional<PublishedComparison> nearest;
  for (const PublishedCounts& row : kPublished) {
    if (name != row.name) continue;
    PublishedComparison comparison{&row, differences(meta, row)};
    if (!nearest || comparison.differences.size() < nearest->differences.size()) nearest = comparison;
  }
  return nearest;
}

std::string to_text(const PublishedComparison& comparison) {
  if (comparison.differences.empty()) return fmt::format("as published ({})", comparison.published->source);
  return fmt::format("{} (published: {})", joined(comparison.differences, ", "),
                     comparison.published->source);
}

}  // namespace atl
