// A description of a data set: counts, degrees, homophily, features, labels, splits, origin.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "dataset/catalogue/presets.h"
#include "dataset/catalogue/published.h"
#include "dataset/dataset.h"

namespace atl {

/// Statistics of in-degrees, which are the lengths of rows.
struct DegreeStatistics {
  double mean = 0;
  Index median = 0, p90 = 0, p99 = 0, p999 = 0, largest = 0;
  Index isolated = 0;      // vertices without an arc in or out
  Index sources_only = 0;  // vertices with arcs out only, which read nobody
  // exponent of a power law fitted to the largest tenth (Clauset, Shalizi, Newman 2009); 0: no tail
  double tail_exponent = 0;
};

/// The number of vertices in each part of a split.
struct SplitStatistics {
  std::string name;
  int columns = 0;
  Index train = 0, validation = 0, test = 0;  // of column 0
};

struct DatasetDescription {
  DatasetMeta meta;
  DegreeStatistics degrees;
  /// Share of arcs between labelled vertices whose ends have the same label. Multi-label: the mean ratio of
  /// labels that both ends have to labels that either has (Jaccard). −1 without labels.
  double homophily = -1;
  double reverse_share = 1;    // of arcs that have their reverse
  double feature_density = 0;  // share of non-zeros; 1 if stored dense
  bool half_precision_features = false;
  Index labelled = 0;               // vertices with a label
  std::vector<Index> class_counts;  // (classes)
  std::vector<SplitStatistics> splits;
  Index bytes = 0;  // of all files
  std::optional<PublishedComparison> published;
  const Preset* preset = nullptr;  // the preset that it was generated from, or null
};

/// Reads the graph and the labels once.
DatasetDescription describe(const Dataset& dataset);

/// The description as lines for a terminal.
std::string to_text(const DatasetDescription& description);

/// The description as one line of JSON: {"event":"dataset", the fields of meta.json except `checksums`, then
/// "isolated", "sourcesOnly", "reverseShare", "degree", "homophily", "labelled", "classCounts",
/// "splitCounts", "bytes", "published", "preset"}; docs/datasets.md explains them. What isn't there is null.
std::string to_json(const DatasetDescription& description);

}  // namespace atl
