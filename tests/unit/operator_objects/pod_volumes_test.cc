// Which pods have the data set, prepared graphs and the output, and which of them may write.
#include <gmock/gmock.h>

#include "operator_objects/restricted_profile.h"
#include "operator_objects/sample_pods.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Worker, OnlyThatOfRankZeroHasTheOutput) {
  EXPECT_EQ(mounts(worker({}, 0, {0, 1})).at("/output").at("persistentVolumeClaim").at("claimName"),
            "results");
  EXPECT_THAT(mounts(worker()), Not(Contains(testing::Key("/output"))));
  EXPECT_THAT(mounts(launcher()), Not(Contains(testing::Key("/output"))));
}

/// Whether the engine can write there; it is mounted.
bool can_write(const json& pod, const std::string& path) {
  for (const json& at : engine(pod).at("volumeMounts"))
    if (at.at("mountPath") == path) return !at.value("readOnly", false);
  ADD_FAILURE() << path << " isn't mounted";
  return false;
}

TEST(Worker, ReadsTheDataThatPrepareWrites) {
  EXPECT_FALSE(can_write(worker(), "/data"));
  EXPECT_TRUE(can_write(prepare(), "/data"));
}

const json kClaim = {{"persistentVolumeClaim", {{"claimName", "scratch"}}}};
const Changes kPreparedElsewhere = {{"/spec/dataset/prepared", kClaim}};

TEST(PreparedGraphs, AreInAVolumeOfTheirOwnWhereTheJobNamesOne) {
  for (const json& pod : {prepare(kPreparedElsewhere), worker(kPreparedElsewhere)}) {
    EXPECT_EQ(mounts(pod).at("/prepared"), kClaim);
    EXPECT_EQ(mounts(pod).at("/data").at("persistentVolumeClaim").at("claimName"), "datasets");
    EXPECT_FALSE(can_write(pod, "/data")) << "as a volume of many readers";
    EXPECT_THAT(restricted_faults(pod), IsEmpty());
  }
  EXPECT_TRUE(can_write(prepare(kPreparedElsewhere), "/prepared"));
  EXPECT_FALSE(can_write(worker(kPreparedElsewhere), "/prepared"));
  for (const json& pod : {prepare(kPreparedElsewhere), launcher(kPreparedElsewhere)})
    EXPECT_THAT(engine(pod).at("command").dump(),
                HasSubstr(R"("--data-root","/data","--prepared","/prepared")"));
  EXPECT_THAT(mounts(launcher(kPreparedElsewhere)), Not(Contains(testing::Key("/prepared"))));
  for (const json& pod : {prepare(), worker(), launcher()})
    EXPECT_THAT(pod.dump(), Not(HasSubstr("--prepared")));
}

TEST(PreparedGraphs, ADataSetIsGeneratedInItsOwnVolumeAllTheSame) {
  const json generated = {{"synthetic", {{"kind", "community"}, {"preset", "reddit"}, {"scale", 0.1}}},
                          {"volume", {{"emptyDir", json::object()}}},
                          {"prepared", kClaim}};
  EXPECT_TRUE(can_write(prepare({{"/spec/dataset", generated}}), "/data"));
  EXPECT_FALSE(can_write(worker({{"/spec/dataset", generated}}), "/data"));
}

}  // namespace
}  // namespace atl::ctl
