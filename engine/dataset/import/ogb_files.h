// Where the parts of an OGB data set lie: of one with one type of vertices, or of one relation of a set that has several.
#pragma once

#include <filesystem>
#include <string>

#include "base/types.h"

namespace atl {

struct OgbFiles {
  std::filesystem::path arcs;              // folder of edge.csv, edge-feat.csv
  std::filesystem::path features, labels;  // folders of node-feat.csv and node-label.csv
  std::filesystem::path splits;            // folder of a folder for each scheme
  std::string type;                        // of the vertices, as a folder below each scheme; empty: only one
  std::filesystem::path archive;           // data.npz, where arrays stand instead of text (ogbn-papers100M)
};

/// `source` is the data set's folder, its raw/, or raw/relations/A___relation___A. Throws Error for several types of
/// vertices: it says which relations there are to give.
OgbFiles find_ogb_files(const std::filesystem::path& source);

/// From num-node-list.csv, or of the relation's type from num-node-dict.csv.
Index read_ogb_vertices(const OgbFiles& files);

}  // namespace atl
