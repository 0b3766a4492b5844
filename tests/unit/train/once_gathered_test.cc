// Layers that gather once, before the first epoch, have no rows that could be stale or cached.
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

TEST(GatheredOnce, LeavesNoStateUnderLateStrategies) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const std::string kind : {"pipegcn", "sancus"}) {
    const Job job = small_job({"model.kind=sgc", "model.options={hops: 4}", "strategy.kind=" + kind});
    run_ranks(3, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      EXPECT_TRUE(rank.trainer->state().empty()) << kind;
    });
  }
}

}  // namespace
}  // namespace atl
