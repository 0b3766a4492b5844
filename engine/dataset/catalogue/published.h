// What data sets of known names hold as published, so that an import that lost, doubled or mixed up something
// is noticed. Several rows may have one name: the same graph with its arcs in one or both directions, or
// cleaned in another way.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dataset/dataset.h"

namespace atl {

struct PublishedCounts {
  const char* name;  // lower case letters and digits alone: "ogbnarxiv" is also OGBN-arxiv and ogbn_arxiv
  Index vertices, arcs, features;
  int classes;
  const char* source;
};

/// All rows.
std::span<const PublishedCounts> published_counts();

/// A data set beside the row of its name that differs in the fewest counts.
struct PublishedComparison {
  const PublishedCounts* published;
  std::vector<std::string> differences;  // "arcs 5,278 instead of 10,556"; none: as published
};

/// Nothing where no row has the data set's name, or it was generated.
std::optional<PublishedComparison> compare_with_published(const DatasetMeta& meta);

/// "as published (source)", or the differences and whom they are measured against.
std::string to_text(const PublishedComparison& comparison);

}  // namespace atl
