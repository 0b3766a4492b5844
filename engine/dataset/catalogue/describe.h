// The catalogue of data sets: presets that imitate known ones, published counts, and the description of a
// stored data set: counts, degrees, homophily, features, labels, splits, origin.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"
#include "dataset/generate/generate.h"

namespace atl {

// Presets imitate four real graphs, which most papers on training use, at any scale. A generated graph has
// the real one's degrees, features, classes, homophily and splits, and its partitions cut as few arcs.

/// How well METIS cuts the real graph: the number of halo rows, over all parts, divided by the number of
/// vertices.
struct BoundaryRatio {
  int parts;
  double ratio;
  const char* source;  // publication, or derivation
};

struct Preset {
  CommunitySpec spec;  // at scale 1, named after the preset
  std::vector<BoundaryRatio> boundary;
};

/// The presets reddit, products, yelp and flickr.
std::span<const Preset> presets();

/// Throws Error that lists the known names.
const Preset& find_preset(const std::string& name);

/// The preset with another number of vertices, which hardly changes the boundary ratio. Degrees stay as they
/// are while a class is at least 3 times as large as the average degree (reddit: down to 61k vertices), and
/// shrink in proportion below that. Throws Error for fewer than 12 vertices per class and for more than 100
/// times the real graph's.
CommunitySpec sized_preset(const std::string& name, Index vertices, std::uint64_t seed);

/// sized_preset() with `scale` times the real graph's vertices.
CommunitySpec scaled_preset(const std::string& name, double scale, std::uint64_t seed);

/// The preset that a data set was generated from, or null.
const Preset* preset_of(const DatasetMeta& meta);

// Published counts of data sets by name, so that an import that lost, doubled or mixed up something is
// noticed. Several rows may have one name: the same graph with its arcs in one or both directions, or cleaned
// in different ways.

struct PublishedCounts {
  const char* name;  // only lower-case letters and digits: "ogbnarxiv" is also OGBN-arxiv and ogbn_arxiv
  Index vertices, arcs, features;
  int classes;
  const char* source;
};

/// All rows.
std::span<const PublishedCounts> published_counts();

/// How a data set differs from a row of published_counts(): of the rows with its name, the one that differs
/// in the fewest counts.
struct PublishedComparison {
  const PublishedCounts* published;
  std::vector<std::string> differences;  // "arcs 5,278 instead of 10,556"; none: as published
};

/// The comparison; nothing if no row has the data set's name, or it was generated.
std::optional<PublishedComparison> compare_with_published(const DatasetMeta& meta);

/// Returns "as published (source)", or the differences and their source.
std::string to_text(const PublishedComparison& comparison);

/// Statistics of in-degrees, which are the lengths of rows.
struct DegreeStatistics {
  double mean = 0;
  Index median = 0, p90 = 0, p99 = 0, p999 = 0, largest = 0;
  Index isolated = 0;      // vertices without an arc in or out
  Index sources_only = 0;  // vertices with arcs out and none in
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
  /// Share of arcs between labelled vertices whose ends have the same label. Multi-label: the mean over arcs
  /// of the number of labels that are at both ends, divided by the number that are at either end (Jaccard).
  /// −1 without labels.
  double homophily = -1;
  double reverse_share = 1;    // share of arcs that have their reverse
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
