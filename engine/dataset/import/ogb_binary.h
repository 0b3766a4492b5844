// OGB's sets whose raw/ is binary, as ogbn-papers100M's: data.npz with edge_index (2, arcs), node_feat (vertices, features),
// num_nodes_list; node-label.npz with node_label (vertices, 1), nan where unlabelled.
#pragma once

#include "dataset/import/importers.h"
#include "dataset/import/ogb_files.h"

namespace atl {

/// Hands on everything but the splits, which are text, and returns the number of vertices. Arrays are read where they lie,
/// or unpacked to temporary files: of them memory holds the labels alone.
Index read_ogb_binary(const OgbFiles& files, const ImportOptions& options, DatasetWriter& writer);

}  // namespace atl
