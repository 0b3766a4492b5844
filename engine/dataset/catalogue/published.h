// Published counts of data sets by name, so that an import that lost, doubled or mixed up something is
// noticed. Several rows may have one name: the same graph with its arcs in one or both directions, or cleaned
// in different ways.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

struct PublishedCounts {
  const char* name;  // only lower-case letters and digits: "ogbnarxiv" is also OGBN-arxiv and ogbn_arxiv
  Index vertices, arcs, features;
  int classes;
  const char* source;
};

/// All rows.
std::span<const PublishedCounts> published_counts();

/// Compares a data set with the row of its name that differs in the fewest counts.
struct PublishedComparison {
  const PublishedCounts* published;
  std::vector<std::string> differences;  // "arcs 5,278 instead of 10,556"; none: as published
};

/// The comparison; nothing if no row has the data set's name, or it was generated.
std::optional<PublishedComparison> compare_with_published(const DatasetMeta& meta);

/// Returns "as published (source)", or the differences and their source.
std::string to_text(const PublishedComparison& comparison);

}  // namespace atl
