// On two ranks, what a rank reads by owner is what localize() makes its halo: the same vertices and arcs.
#include "strategies/schedule/owner_view.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "partition/prepared_graph.h"
#include "train/small_job.h"

namespace atl {
namespace {

TEST(OwnerView, ReadsTheHaloOnTwoRanks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.weighted = true});
  const Dataset dataset = Dataset::open(folder / "small");
  const Job job = small_job({"strategy.kind=cagnet", "placement.ranks=2"});
  const auto prepared =
      PreparedGraph::make(dataset, {.kind = "hash", .parts = 2}, {}, training_marks(dataset, job));
  const LocalizeOptions options{Normalisation::kSymmetric, true};
  for (Rank rank = 0; rank < 2; ++rank) {
    const auto graph = localize(prepared, rank, options);
    bool asked = false;
    const auto part = [&]() -> const LocalGraph& {
      asked = true;
      return *graph;
    };
    const OwnerView view(ViewInput{job, prepared, rank, part, options}, nullptr);
    EXPECT_FALSE(asked) << "a plan would cut the part, and hold it beside the blocks";
    const Index owned = graph->owned, halo = graph->halo, arcs = graph->outer.arcs();
    ASSERT_GT(arcs, 0);
    const auto read = view.reads();
    ASSERT_EQ(read.size(), 1U);
    EXPECT_TRUE(std::ranges::equal(read[0], std::span(graph->ids).subspan(std::size_t(owned))));
    const auto sizes = view.sizes();
    EXPECT_EQ(sizes->replaces(), Replaces::kOuter);
    EXPECT_EQ(sizes->reads(), std::vector<Index>{halo});
    const Index real = sizeof(Real), offsets = 8 * (owned + 1) + 8 * (halo + 1),
                of_rows = owned * (4 + real) + halo * (2 * 4 + real), of_arcs = (2 * (4 + 4) + 8) * arcs;
    EXPECT_EQ(sizes->bytes(), offsets + of_rows + of_arcs);
  }
}

}  // namespace
}  // namespace atl
