// Ranks that were started with different builds, manifests or data sets say so before they train.
#include <gmock/gmock.h>

#include "train/checkpoint/killed_run.h"

namespace atl {
namespace {

class SameStart : public KilledRuns {
 protected:
  /// What a run of two ranks says whose second rank has something else.
  std::string message(const std::function<void(SessionOptions&)>& differs) {
    std::filesystem::create_directories(folder_ / "out");
    const Dataset dataset = Dataset::open(folder_ / "small");
    PreparedGraph::make(dataset, partition_options(job_, 2), graph_transforms(job_),
                        training_marks(dataset, job_));
    try {
      run_ranks(2, [&](Communicator& comm) {
        Watcher watcher;
        SessionOptions o;
        o.build = o.job_yaml = "same";
        o.job = job_;
        o.dataset = folder_ / "small";
        o.output = folder_ / "out";
        o.observer = &watcher;
        if (comm.rank() == 1) differs(o);
        run_session(comm, o);
      });
    } catch (const std::runtime_error& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(SameStart, IsNoProblem) {
  EXPECT_EQ(message([](SessionOptions&) {}), "");
}

TEST_F(SameStart, OtherBuildsAreNamed) {
  EXPECT_THAT(message([](SessionOptions& o) { o.build = "older"; }), testing::HasSubstr("the build"));
}

TEST_F(SameStart, OtherManifestsAreNamed) {
  EXPECT_THAT(message([](SessionOptions& o) { o.job_yaml = "changed"; }), testing::HasSubstr("the manifest"));
}

TEST_F(SameStart, OtherDataSetsAreNamed) {
  write_small_data(folder_ / "other", {.density = 0.5});
  const Dataset other = Dataset::open(folder_ / "other");
  PreparedGraph::make(other, partition_options(job_, 2), graph_transforms(job_), training_marks(other, job_));
  EXPECT_THAT(message([&](SessionOptions& o) { o.dataset = folder_ / "other"; }),
              testing::HasSubstr("the data set"));
}

}  // namespace
}  // namespace atl
