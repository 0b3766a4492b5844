// A part that is cut into chunks is the part: each arc lies in one chunk, and a chunk names the rows outside
// of itself that it reads. Its bytes are counted arc by arc.
#include "strategies/gnnpipe/chunk_pass.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "base/error.h"
#include "partition/prepared_graph.h"
#include "train/small_job.h"

namespace atl {
namespace {

/// Each part of a small graph with weights, for attention and a symmetric normalisation.
std::vector<std::unique_ptr<LocalGraph>> sliced_parts() {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.weighted = true});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, {.kind = "hash", .parts = 2, .slices = 3}, {},
                                            training_marks(dataset, small_job({})));
  std::vector<std::unique_ptr<LocalGraph>> parts;
  for (Rank rank = 0; rank < 2; ++rank)
    parts.push_back(localize(prepared, rank, LocalizeOptions{Normalisation::kSymmetric, true}));
  return parts;
}

/// Weights by destination and source, which are rows of owned + halo.
using Arcs = std::map<std::pair<Index, Index>, float>;

/// Enters arcs whose first destination is row `first`. `source_of` says which row a column is.
template <class SourceOf>
void enter(const CsrView& from, Index first, Arcs& arcs, SourceOf source_of) {
  for (Index row = 0; row < from.rows; ++row)
    for (Index e = from.offsets[row]; e < from.offsets[row + 1]; ++e) {
      const std::pair<Index, Index> arc(first + row, source_of(from.columns[e]));
      EXPECT_TRUE(arcs.emplace(arc, from.weights[e]).second) << arc.first << " reads " << arc.second;
    }
}

Arcs arcs_of(const LocalGraph& graph) {
  Arcs arcs;
  enter(graph.own.view(), 0, arcs, [](VertexId column) { return Index(column); });
  enter(graph.outer.view(), 0, arcs, [&](VertexId column) { return graph.owned + column; });
  return arcs;
}

TEST(ChunkView, HasEachArcInOneChunk) {
  for (const auto& graph : sliced_parts()) {
    const ChunkView view(*graph, true);
    ASSERT_EQ(view.chunks().size(), 3U);
    Arcs arcs;
    for (const ChunkRows& chunk : view.chunks()) {
      enter(chunk.own.arcs, chunk.begin, arcs, [&](VertexId column) { return chunk.begin + column; });
      enter(chunk.outer.arcs, chunk.begin, arcs,
            [&](VertexId column) { return Index(chunk.reads[std::size_t(column)]); });
      for (const VertexId row : chunk.reads) EXPECT_FALSE(row >= chunk.begin && row < chunk.end) << row;
    }
    EXPECT_FALSE(arcs.empty());
    EXPECT_EQ(arcs, arcs_of(*graph));
  }
}

/// Before anything is allocated.
TEST(StageRows, RefusesMoreThanAChunkCanNumber) {
  const Model model = job_model(small_job({}), {.columns = 6}, 3);
  LocalGraph graph;
  graph.owned = (Index(1) << 30) - 1, graph.halo = 1;
  const LayerRange layers{0, int(model.layers.size())};
  EXPECT_THAT([&] { StageRows(Device::kDry, model, layers, graph, {}); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "a rank keeps 1073741824 rows of two epochs each, and 1073741823 at most")));
}

TEST(ChunkView, CountsTheBytesOfItsArrays) {
  for (const auto& graph : sliced_parts()) {
    const Arcs arcs = arcs_of(*graph);
    Index bytes = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      const Index begin = graph->slices[k], end = graph->slices[k + 1];
      std::set<Index> reads;
      Index inside = 0, outside = 0;
      for (const auto& [arc, weight] : arcs) {
        if (arc.first < begin || arc.first >= end) continue;
        const bool is_inside = arc.second >= begin && arc.second < end;
        ++(is_inside ? inside : outside);
        if (!is_inside) reads.insert(arc.second);
      }
      const Index rows = end - begin, others = Index(reads.size());
      bytes += 3 * 8 * (rows + 1) + 8 * (others + 1);   // where each row's arcs begin, there and back
      bytes += 2 * (4 + 4) * (inside + outside);        // columns and weights, there and back
      bytes += 8 * (inside + outside);                  // places of transposed arcs
      bytes += others * (3 * 4 + Index(sizeof(Real)));  // numbers, ids and copies of rows, and their scales
    }
    EXPECT_EQ(ChunkView(*graph, true).sizes()->bytes(), bytes);
  }
}

}  // namespace
}  // namespace atl
