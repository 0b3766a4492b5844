// Data sets on disk with a random graph, for tests of what is prepared from them.
#pragma once

#include <filesystem>

#include "dataset/dataset.h"
#include "dataset/source_files.h"
#include "dataset/writer.h"
#include "graph/random_graph.h"

namespace atl {

/// Arcs of a random graph (the writer drops duplicates), one label, one split: every fourth vertex trains.
inline Dataset sample_dataset(const std::filesystem::path& folder, const RandomGraph& options) {
  const Csr graph = random_graph(options);
  WriterOptions writing;
  writing.name = "sample";
  writing.weighted = options.weighted;
  writing.replace = true;
  writing.threads = 1;
  DatasetWriter writer(folder, writing);
  writer.set_vertices(graph.rows);
  std::vector<VertexId> rows;
  for (Index r = 0; r < graph.rows; ++r) rows.insert(rows.end(), graph.view().row(r).size(), VertexId(r));
  writer.add_arcs(graph.columns, rows, graph.weights, {});
  std::vector<std::uint8_t> split;
  for (Index v = 0; v < graph.rows; ++v)
    split.push_back(std::uint8_t(v % 4 == 0 ? Split::kTrain : Split::kTest));
  const std::vector<std::int32_t> labels(std::size_t(graph.rows), 0);
  writer.set_labels(labels, 1, {});
  writer.add_split("default", {split.data(), graph.rows, 1}, "test");
  writer.finish();
  return Dataset::open(folder);
}

/// (vertices) 1 where the sample's split says train.
inline std::vector<std::uint8_t> training_marks(const Dataset& dataset) {
  std::vector<std::uint8_t> marks;
  const auto split = dataset.split("default");
  for (Index v = 0; v < split.rows; ++v) marks.push_back(split.at(v, 0) == std::uint8_t(Split::kTrain));
  return marks;
}

}  // namespace atl
