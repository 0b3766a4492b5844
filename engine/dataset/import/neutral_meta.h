// meta.json of the neutral layout: what the source says about its arrays. Every field may be missing.
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
  std::vector<std::string> class_names;  // class_names: what each class is called; empty: its number
  bool multi_label = false;     // multilabel: rows of labels are several labels, even where each has one
  bool symmetrise = false;      // symmetrise_for_standard_use: one arc is stored for each undirected edge
  bool directed = false;        // directed; without it edges of an edge split have no direction
  std::string source, licence;  // licence also tells what the data's own licence is
};

NeutralMeta parse_neutral_meta(std::string_view text, const std::string& name);

/// The defaults where the file is missing.
NeutralMeta read_neutral_meta(const std::filesystem::path& path);

/// The same fields for a data set of ours, and its transforms.
void write_neutral_meta(const DatasetMeta& meta, const std::filesystem::path& path);

// labels.npy of the neutral layout, in the forms in which tools write classes.

/// One class a vertex: [N] or [N, 1] of whole numbers (nan: unlabelled) or text. Several: [N, classes] of 0
/// and 1, which are one class a vertex where every row is one-hot and meta.json doesn't say multilabel.
void add_labels(const NpyArray& labels, const NeutralMeta& meta, DatasetWriter& writer);

}  // namespace atl
