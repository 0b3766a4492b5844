// The parts of a forecast's computing time.
#include "compare/comparison.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

/// A pipeline of so many chunks, where nothing but kernels' calls takes time.
double computing(int chunks, double call_seconds) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 200});
  const Job job =
      small_job({fmt::format("strategy={{kind: gnnpipe, gnnpipe: {{stages: 2, chunks: {}}}}}", chunks),
                 "placement.ranks=2", "model.layers=4"});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                            training_marks(dataset, job));
  const MachineRates rates{
      .triad_bytes = 1e30, .gather_bytes = 1e30, .product_flops = 1e30, .call_seconds = call_seconds};
  return forecast(job, dataset, prepared, usual_topology({"a", "b"}, 1e9, rates, 1), rates, 1).row.compute;
}

/// Chunks share an epoch's products, rows and matrices, but each has kernels of its own.
TEST(Forecast, ChunksPayForTheirKernelsCalls) {
  const double few = computing(2, 1e-3), many = computing(20, 1e-3);
  EXPECT_GT(few, 0);
  EXPECT_GT(many, 5 * few);
  EXPECT_LT(many, 10 * few) << "the update is one";
  EXPECT_LT(computing(20, 0), 0.1 * few);
}

}  // namespace
}  // namespace atl
