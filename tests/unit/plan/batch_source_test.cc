// Neighbours that a plan draws from the data set are those that a run draws from the prepared graph.
#include "plan/batch_source.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "dataset/writer.h"
#include "train/rank_data.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr Index kVertices = 80;

/// Every third vertex has a self-loop; half of the vertices train.
void write_looped(const std::filesystem::path& place, bool weighted, bool symmetric) {
  WriterOptions options{.name = "looped", .weighted = weighted, .symmetrise = symmetric, .threads = 1};
  DatasetWriter writer(place, options);
  writer.set_vertices(kVertices);
  const Draws draws(3, Purpose::kGenerator);
  std::vector<VertexId> sources, destinations;
  for (Index i = 0; i < kVertices; ++i)
    for (Index j = 0; j < kVertices; ++j) {
      const bool loop = i == j && i % 3 == 0;
      if (!loop && (i == j || draws.uniform_at(std::uint64_t(i), std::uint64_t(j)) > 0.08)) continue;
      sources.push_back(VertexId(i));
      destinations.push_back(VertexId(j));
    }
  const std::vector<float> weights(weighted ? sources.size() : 0, 0.5F);
  writer.add_arcs(sources, destinations, weights, {});
  const std::vector<float> features(kVertices, 1.F);
  writer.begin_features(1);
  writer.add_features({features.data(), kVertices, 1}, {});
  std::vector<std::uint8_t> split(kVertices);
  for (std::size_t v = 0; v < split.size(); ++v) split[v] = std::uint8_t(1 + v % 2);
  writer.set_labels(std::vector<std::int32_t>(kVertices, 0), 1, {});
  writer.add_split("default", {split.data(), kVertices, 1}, "test");
  writer.finish();
}

/// What a row draws, as vertices of the data set.
struct Drawn {
  std::uint32_t loops, others;
  std::vector<VertexId> neighbours;  // ascending
  bool operator==(const Drawn&) const = default;
};

/// By vertex of the data set, of those that `wanted` marks.
std::vector<Drawn> drawn_from(const BatchSource& source, const HopDraw& hop,
                              const std::vector<std::uint8_t>& wanted) {
  ThreadPool pool(1);
  const auto structure = source.structure(pool);
  std::vector<VertexId> rows;
  for (std::size_t row = 0; row < source.ids().size(); ++row)
    if (wanted[std::size_t(source.ids()[row])] != 0) rows.push_back(VertexId(row));
  DrawnArcs arcs;
  structure->draw(hop, rows, arcs);
  EXPECT_EQ(arcs.weights.size(), source.weighted() ? arcs.columns.size() : 0);
  std::vector<VertexId> ids(rows.size());
  structure->describe(hop, rows, ids, {});
  std::vector<Drawn> all(source.ids().size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const NeighbourCounts& neighbours = arcs.neighbours[Index(i)];
    // Where a layer reads everything, loops are neighbours like others.
    const bool whole = hop.fanout == kAllNeighbours;
    Drawn& drawn = all[std::size_t(ids[i])] = {
        whole ? 0 : neighbours.loops, neighbours.others + (whole ? neighbours.loops : 0), {}};
    for (Index e = arcs.offsets[Index(i)]; e < arcs.offsets[Index(i) + 1]; ++e)
      drawn.neighbours.push_back(source.ids()[std::size_t(arcs.columns[e])]);
    std::ranges::sort(drawn.neighbours);
  }
  return all;
}

struct SourceCase {
  const char* name;
  std::vector<std::string> fields;
  bool weighted = false, symmetric = true;
};

class BatchSources : public testing::TestWithParam<SourceCase> {};

TEST_P(BatchSources, DrawTheSame) {
  TemporaryFolder folder;
  write_looped(folder / "looped", GetParam().weighted, GetParam().symmetric);
  std::vector<std::string> fields = GetParam().fields;
  fields.insert(fields.end(), {"strategy.kind=minibatch", "placement.ranks=3",
                               "placement.partitioner={kind: hash, parts: 4}"});
  const Job job = small_job(fields);
  const Dataset dataset = Dataset::open(folder / "looped");
  const std::vector<std::uint8_t> marks = training_marks(dataset, job).bytes();
  const auto ordered = batch_source(job, dataset), large = batch_source(job, dataset, 0);
  const auto graph = PreparedGraph::make(dataset, partition_options(job, 3), graph_transforms(job), marks);
  const auto prepared = batch_source(job, graph);
  EXPECT_TRUE(std::ranges::equal(ordered->ids(), prepared->ids()));
  EXPECT_TRUE(std::ranges::equal(ordered->arc_offsets(), prepared->arc_offsets()));
  EXPECT_TRUE(std::ranges::equal(large->part_offsets(), prepared->part_offsets()));
  EXPECT_EQ(large->arc_offsets().back(), prepared->arc_offsets().back());
  const bool inductive = job.training.setting == Setting::kInductive;
  const auto wanted = inductive ? marks : std::vector<std::uint8_t>(std::size_t(kVertices), 1);
  for (const int fanout : {1, 3, kAllNeighbours})
    for (const bool replace : {false, true}) {
      SCOPED_TRACE(fmt::format("fanout {}, replace {}", fanout, replace));
      const HopDraw hop{Draws(1, Purpose::kNeighbour, 5, 0), fanout, replace};
      const auto expected = drawn_from(*prepared, hop, wanted);
      EXPECT_TRUE(drawn_from(*ordered, hop, wanted) == expected);
      EXPECT_TRUE(drawn_from(*large, hop, wanted) == expected);
    }
}

INSTANTIATE_TEST_SUITE_P(All, BatchSources,
                         testing::Values(SourceCase{"kept", {"dataset.selfLoops=keep"}},
                                         SourceCase{"added", {"dataset.selfLoops=add"}},
                                         SourceCase{"removed", {"dataset.selfLoops=remove"}},
                                         SourceCase{"weighted", {"dataset.selfLoops=add"}, true},
                                         SourceCase{"directed", {"dataset.selfLoops=keep"}, false, false},
                                         SourceCase{"symmetrised", {"dataset.symmetrise=true"}, true, false},
                                         SourceCase{"inductive",
                                                    {"training.setting=inductive", "dataset.selfLoops=add"}}),
                         [](const auto& each) { return each.param.name; });

TEST(BatchSource, MorePartsThanVerticesAreRefusedAsInARun) {
  TemporaryFolder folder;
  write_looped(folder / "looped", false, true);
  const Dataset dataset = Dataset::open(folder / "looped");
  const Job job = small_job({"strategy.kind=minibatch", "placement.partitioner={kind: hash, parts: 81}"});
  EXPECT_THAT([&] { batch_source(job, dataset); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("81 parts for 80 vertices")));
}

}  // namespace
}  // namespace atl
