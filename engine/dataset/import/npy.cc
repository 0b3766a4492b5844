// The neutral layout: a folder of NumPy arrays that any tool can write and that `atoll dataset export`
// writes.
//   edges.npy [E, 2] (source, destination); features.npy [N, F] or features.npz (SciPy CSR); labels.npy [N],
//   or [N, classes] if multi-label; split.npz, split_<name>.npz with masks train, val, test [N] or [N,
//   splits], or lists of ids; edge_split.npz, whose training edges are the arcs if it is asked for;
//   weights.npy [E]; original_ids.npy [N]; meta.json. All but edges.npy may be missing; edges.npy
//   may be missing too if the edge split is asked for.

#include <algorithm>
#include <filesystem>
#include <limits>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/text.h"
#include "dataset/format/npz.h"
#include "dataset/format/text.h"
#include "dataset/import/array_rows.h"
#include "dataset/import/importers.h"
#include "dataset/import/neutral_meta.h"
#include "dataset/splits.h"

namespace atl {
namespace {

// edge_split.npz of the neutral layout: train_pos, val_pos, test_pos, val_neg and test_neg, each of integers
// (pairs, 2).

/// The names that tools give each set.
const std::vector<const char*> kNames[kPairSets] = {{"train_pos", "train"},
                                                    {"val_pos", "valid_pos"},
                                                    {"test_pos", "test"},
                                                    {"val_neg", "valid_neg"},
                                                    {"test_neg"}};

std::vector<VertexPair> read_pairs(const NpyArray& array, VertexId first_id) {
  expect_arc_rows(array);
  expect_integers(array, "ids of vertices");
  const std::vector<std::int64_t> ids = array.read<std::int64_t>();
  constexpr std::int64_t kLargest = std::numeric_limits<VertexId>::max();
  std::vector<VertexPair> pairs(std::size_t(array.rows()));
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t id = ids[i] - first_id;
    if (id < 0 || id > kLargest)
      fail("{}: row {} holds {}; allowed are ids from {} on, as edges.npy has them: correct it", array.name(),
           i / 2, ids[i], first_id);
    pairs[i / 2][i % 2] = VertexId(id);
  }
  return pairs;
}

/// Throws Error naming the array that is missing or isn't (pairs, 2). `first_id` is the id of the first
/// vertex.
EdgeSplit read_edge_split(const std::filesystem::path& path, VertexId first_id) {
  const NpzFile archive = NpzFile::open(path);
  EdgeSplit split;
  for (int s = 0; s < kPairSets; ++s)
    split.pairs[std::size_t(s)] = read_pairs(archive.read_one_of(kNames[s]), first_id);
  return split;
}

namespace fs = std::filesystem;

std::vector<fs::path> files_like(const fs::path& folder, std::string_view prefix, std::string_view suffix) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    const bool fits = name.size() >= prefix.size() + suffix.size();
    if (fits && name.starts_with(prefix) && name.ends_with(suffix)) found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

/// Returns features.npz, features.npy, or the only features_<name>.npy.
fs::path find_features(const fs::path& folder, const DatasetWriter& writer) {
  expect_not_both(folder / "features.npz", folder / "features.npy");
  for (const char* name : {"features.npz", "features.npy"}) {
    if (fs::exists(folder / name)) return folder / name;
  }
  const std::vector<fs::path> named = files_like(folder, "features_", ".npy");
  if (named.size() > 1) {
    fail("{}: has several feature files ({}, {}, …); rename the one to use to features.npy", folder.string(),
         named[0].filename().string(), named[1].filename().string());
  }
  if (named.empty()) return {};
  writer.report(fmt::format("features are taken from {}", named[0].filename().string()));
  return named[0];
}

/// `vertices`: their number if known, or −1.
Index read_features(const fs::path& path, Index vertices, DatasetWriter& writer) {
  if (path.empty()) return -1;
  if (path.extension() == ".npz") {
    const NpzCsr features = read_csr_npz(path, writer.scratch_folder());
    add_feature_rows(features, path.string(), writer);
    return features.rows;
  }
  const NpyArray features = NpyArray::open(path);
  expect_a_row_each(features, vertices);
  add_feature_rows(features, writer);
  return features.rows();
}

std::optional<NpyArray> open_labels(const fs::path& path) {
  if (!fs::exists(path)) return std::nullopt;
  return NpyArray::open(path);
}

void read_arcs(const fs::path& folder, const NeutralMeta& meta, const ImportOptions& options,
               DatasetWriter& writer) {
  const NpyArray arcs = NpyArray::open(folder / "edges.npy");
  expect_arc_rows(arcs);  // before rows are counted, because PyG's array has two rows, with arcs as columns
  if (meta.arcs && *meta.arcs != arcs.rows()) {
    fail("{}: holds {} arcs, but num_edges in meta.json is {}; correct one of them", arcs.name(), arcs.rows(),
         *meta.arcs);
  }
  std::optional<NpyArray> weights;
  const fs::path weights_path = folder / "weights.npy";
  if (options.weights) weights = NpyArray::open(weights_path);
  if (!options.weights && fs::exists(weights_path))
    writer.report("weights.npy is not used; add --weights to use it");
  add_arc_rows(arcs, weights ? &*weights : nullptr, options.one_based, writer);
}

/// `vertices`: their number if known, or −1. Without the number no split can be read, since it tells masks
/// from lists of ids.
void read_splits(const fs::path& folder, Index vertices, VertexId first_id, DatasetWriter& writer) {
  for (const fs::path& path : files_like(folder, "split", ".npz")) {
    const std::string stem = path.stem().string();
    if (stem != "split" && !stem.starts_with("split_")) continue;
    if (vertices < 0) {
      writer.warn(
          fmt::format("{} is not used, because nothing says how many vertices there are; give num_nodes in "
                      "meta.json, or labels.npy or features.npy",
                      path.filename().string()));
      continue;
    }
    const SplitTable split = read_mask_split(path, vertices, first_id);
    writer.add_split(stem == "split" ? "default" : stem.substr(6), split.view(), path.string());
  }
}

/// Takes the arcs from edge_split.npz if the user asks for it. An undirected edge is in that file once,
/// however edges.npy stores it.
void read_edges(const fs::path& folder, const NeutralMeta& meta, const ImportOptions& options, Index vertices,
                DatasetWriter& writer) {
  if (!options.given_edges) return read_arcs(folder, meta, options, writer);
  const fs::path path = folder / "edge_split.npz";
  if (!fs::exists(path))
    fail("{}: --edge-split given: there is no edge_split.npz; draw one with --edge-split random:85/5/10",
         folder.string());
  EdgeSplit split = read_edge_split(path, options.one_based ? 1 : 0);
  for (Index last = -1; const auto& pairs : split.pairs) {
    for (const VertexPair& pair : pairs) last = std::max<Index>({last, pair[0], pair[1]});
    if (vertices < 0 && last >= 0) writer.set_vertices(last + 1);
  }
  writer.set_symmetrise(symmetrises(options, meta.symmetrise || !meta.directed));
  writer.report(fmt::format("edge_split.npz: the graph is made of its training edges{}",
                            fs::exists(folder / "edges.npy") ? "; edges.npy is not used" : ""));
  writer.set_edge_split(std::move(split), path.string());
}

/// Returns the names of the folder's arrays and tables that the layout doesn't know, as "x.npy, y.npy".
std::string files_of_other_names(const fs::path& folder) {
  constexpr std::string_view kArrays[] = {".npy", ".npz", ".csv", ".tsv", ".txt", ".gz", ".parquet", ".pt"};
  constexpr std::string_view kRead[] = {"edges.npy",  "weights.npy",      "features.npy", "features.npz",
                                        "labels.npy", "original_ids.npy", "split.npz",    "edge_split.npz"};
  constexpr std::string_view kPrefixes[] = {"features_", "labels_", "split_", "README", "LICEN"};
  std::vector<std::string> found;
  for (const fs::path& path : files_like(folder, "", "")) {
    const std::string name = path.filename().string();
    const auto begins = [&](std::string_view prefix) { return name.starts_with(prefix); };
    if (std::ranges::find(kArrays, path.extension().string()) == std::end(kArrays)) continue;
    if (std::ranges::find(kRead, name) != std::end(kRead) || std::ranges::any_of(kPrefixes, begins)) continue;
    found.push_back(name);
  }
  return joined(found, ", ");
}

void name_unused_files(const fs::path& folder, const ImportOptions& options, const DatasetWriter& writer) {
  for (const fs::path& path : files_like(folder, "labels_", ".npy")) {
    writer.report(
        fmt::format("{} is not used; rename it to labels.npy to train on it", path.filename().string()));
  }
  for (const fs::path& path : files_like(folder, "features_", ".npy")) {
    if (fs::exists(folder / "features.npz") || fs::exists(folder / "features.npy"))
      writer.report(
          fmt::format("{} is not used; rename it to features.npy, in the other's place, to train on it",
                      path.filename().string()));
  }
  if (!options.given_edges && fs::exists(folder / "edge_split.npz"))
    writer.report("edge_split.npz is not used; add --edge-split given to predict links");
  if (const std::string others = files_of_other_names(folder); !others.empty())
    writer.report(fmt::format(
        "not read: {}. The layout's names are edges.npy, features.npy or .npz, labels.npy, split.npz, weights.npy, "
        "original_ids.npy (docs/datasets.md)",
        others));
}

}  // namespace

void import_npy(const fs::path& folder, const ImportOptions& options, DatasetWriter& writer) {
  if (!options.given_edges && !fs::exists(folder / "edges.npy")) {
    const std::string others = files_of_other_names(folder);
    fail("{}: has no edges.npy{}; give a folder in the neutral layout (docs/datasets.md){}", folder.string(),
         others.empty() ? "" : ", but " + others,
         fs::exists(folder / "edge_split.npz")
             ? ", or add --edge-split given to take the edges of edge_split.npz"
             : "");
  }
  const NeutralMeta meta = read_neutral_meta(folder / "meta.json");
  writer.set_symmetrise(symmetrises(options, meta.symmetrise));
  if (!meta.source.empty()) writer.set_source(meta.source, meta.licence);
  Index vertices = meta.vertices.value_or(-1);
  if (vertices >= 0) writer.set_vertices(vertices);
  const std::optional<NpyArray> labels = open_labels(folder / "labels.npy");
  if (vertices < 0 && labels) vertices = labels->rows();
  const Index feature_rows = read_features(find_features(folder, writer), vertices, writer);
  if (labels) expect_a_row_each(*labels, std::max(vertices, feature_rows));
  if (labels) add_labels(*labels, meta, writer);
  if (!meta.vertices) vertices = std::max(feature_rows, vertices);
  if (vertices >= 0) writer.set_vertices(vertices);
  read_edges(folder, meta, options, vertices, writer);
  read_splits(folder, vertices, options.one_based, writer);
  if (fs::exists(folder / "original_ids.npy")) {
    const NpyArray ids = NpyArray::open(folder / "original_ids.npy");
    writer.set_original_ids(ids.read<std::int64_t>(), {ids.name()});
  }
  name_unused_files(folder, options, writer);
}

}  // namespace atl
