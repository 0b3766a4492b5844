// meta.json of the neutral layout, in which the source describes its arrays. Every field may be missing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/format/npy.h"
#include "dataset/writer.h"

namespace atl {

struct NeutralMeta {
  std::optional<Index> vertices;         // num_nodes
  std::optional<Index> arcs;             // num_edges: rows of edges.npy
  int classes = 0;                       // num_classes; 0: the largest label + 1
  std::vector<std::string> class_names;  // class_names: the name of each class; empty: its number
  bool multi_label = false;     // multilabel: rows of labels may hold several labels, even if each has one
  bool symmetrise = false;      // symmetrise_for_standard_use: each undirected edge is stored as one arc
  bool directed = false;        // directed; without it edges of an edge split have no direction
  std::string source, licence;  // licence also names the data's own licence
};

NeutralMeta parse_neutral_meta(std::string_view text, const std::string& name);

/// Returns the defaults if the file is missing.
NeutralMeta read_neutral_meta(const std::filesystem::path& path);

/// Writes the same fields for a data set of ours, and its transforms.
void write_neutral_meta(const DatasetMeta& meta, const std::filesystem::path& path);

// labels.npy of the neutral layout, in the forms in which tools write classes.

/// One class per vertex: [N] or [N, 1] of whole numbers (nan: unlabelled) or text. Several classes per
/// vertex: [N, classes] of 0 and 1. If every row of these is one-hot, they are one class per vertex, unless
/// meta.json says multilabel.
void add_labels(const NpyArray& labels, const NeutralMeta& meta, DatasetWriter& writer);

}  // namespace atl
