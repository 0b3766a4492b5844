// The use of the data's self-loops in a run, and its report; a run that goes on keeps its first choice.
#include "command/job_data.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dataset/source_files.h"
#include "job/load.h"

namespace atl {
namespace {

using testing::HasSubstr;

LoadedJob given(const std::string& kind, const std::string& loops = "") {
  LoadedJob loaded =
      parse_job(fmt::format("apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {{name: x}}\nspec:\n"
                            "  dataset: {{name: d{}}}\n  model: {{kind: {}}}\n",
                            loops.empty() ? "" : ", selfLoops: " + loops, kind),
                "x.yaml");
  settle_self_loops(loaded);
  return loaded;
}

/// The output of a run whose manifest says so.
class RunThatGoesOn : public testing::Test {
 protected:
  void began(const std::string& kind, SelfLoops loops) {
    Job job = given(kind).job;
    job.dataset.self_loops = loops;
    write_text(folder_ / "job.yaml", write_job(job));
    std::filesystem::create_directories(folder_ / "checkpoints/epoch-3");
    write_text(folder_ / "checkpoints/epoch-3/COMPLETE", "");
  }
  SelfLoops goes_on(LoadedJob loaded) {
    go_on_with_self_loops(folder_.path(), loaded);
    return loaded.job.dataset.self_loops;
  }
  TemporaryFolder folder_;
};

TEST_F(RunThatGoesOn, KeepsToItsManifest) {
  began("sage", SelfLoops::kModel);
  EXPECT_EQ(goes_on(given("sage")), SelfLoops::kModel) << "it began when sage left them out";
  EXPECT_EQ(goes_on(given("sage", "model")), SelfLoops::kModel);
  EXPECT_EQ(goes_on(given("sage", "keep")), SelfLoops::kKeep) << "which is another run, and refused as such";
  EXPECT_EQ(goes_on(given("gin")), SelfLoops::kKeep) << "another model's";
  began("sage", SelfLoops::kKeep);
  EXPECT_EQ(goes_on(given("sage")), SelfLoops::kKeep);
}

TEST_F(RunThatGoesOn, IsNoneWithoutACheckpoint) {
  began("sage", SelfLoops::kModel);
  std::filesystem::remove_all(folder_ / "checkpoints");
  EXPECT_EQ(goes_on(given("sage")), SelfLoops::kKeep);
}

TEST(SelfLoopsOfARun, AreTold) {
  DatasetMeta meta;
  meta.name = "d";
  EXPECT_EQ(self_loops_line(meta, given("sage").job), "");
  meta.self_loops = 2;
  EXPECT_THAT(self_loops_line(meta, given("sage").job), HasSubstr("d: 2 self-loops are kept"));
  EXPECT_THAT(self_loops_line(meta, given("sage", "remove").job), HasSubstr("2 self-loops are left out"));
  EXPECT_THAT(self_loops_line(meta, given("gcn").job), HasSubstr("gcn reads each vertex itself once"));
  Job before = given("gin").job;
  before.dataset.self_loops = SelfLoops::kModel;
  EXPECT_THAT(self_loops_line(meta, before), HasSubstr("this run began before gin kept them"));
  meta.self_loops = 1;
  EXPECT_THAT(self_loops_line(meta, given("sage").job), HasSubstr("1 self-loop is kept"));
}

}  // namespace
}  // namespace atl
