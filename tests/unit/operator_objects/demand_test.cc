// A gang's demand equals its pods' requests.
#include "operator/objects/objects.h"

#include <gtest/gtest.h>

#include "operator/api/pod.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

constexpr std::int64_t kMi = 1 << 20;

Gang counted(const GnnJob& job) {
  Gang gang = gang_of(*job.job, {});
  count_pods(job, {}, gang);
  return gang;
}

TEST(Demand, HasTheSharedMemoryOfTheRanks) {
  const Gang gang = counted(sample_job());
  EXPECT_EQ(gang.server.of("memory"), 2 * 1024 * kMi + 2 * 64 * kMi);
  EXPECT_EQ(gang.server.of("cpu"), 3000);
  EXPECT_EQ(gang.server.of("pods"), 1);
  EXPECT_EQ(gang.launcher.of("cpu"), 100);
}

TEST(Demand, HasWhatTheTemplatePutsBesideThem) {
  const auto containers = parse_json(R"([
    {"name": "proxy", "restartPolicy": "Always", "resources": {"requests": {"cpu": "250m"}, "limits": {"memory": "100Mi"}}},
    {"name": "fetch", "resources": {"requests": {"cpu": "6"}}}])");
  const GnnJob job = sample_job({{"/spec/template/spec/initContainers", containers}});
  const Gang gang = counted(job);
  EXPECT_EQ(gang.server.of("cpu"), 6250) << "while it starts";
  EXPECT_EQ(gang.server.of("memory"), (2 * 1024 + 2 * 64 + 100) * kMi) << "a limit is a request";
  EXPECT_EQ(gang.launcher.of("cpu"), 6250);
  EXPECT_EQ(gang.server, read_pod(worker_pod(job, {}, 0, gang.servers[0], 0)).requests);
}

Resources launcher_of(int ranks, const char* what) {
  const GnnJob job = sample_job({{"/spec/placement/ranks", ranks}, {"/spec/placement/ranksPerServer", 1}});
  const auto pod = parse_json(launcher_pod(job, {}, 1));
  Resources found;
  found.add("memory", pod.at("/spec/containers/0/resources"_json_pointer)
                          .at(what)
                          .at("memory")
                          .get_ref<const std::string&>());
  return found;
}

/// A fixed limit of 512 MiB would end the launcher of a large job: mpirun holds an ssh for each server.
TEST(Demand, TheLaunchersMemoryGrowsWithItsServers) {
  EXPECT_EQ(launcher_of(2, "requests").of("memory"), 128 * kMi);
  EXPECT_EQ(launcher_of(2, "limits").of("memory"), 512 * kMi) << "as before, where that suffices";
  EXPECT_EQ(launcher_of(1000, "requests").of("memory"), (64 + 2 * 1000) * kMi);
  EXPECT_EQ(launcher_of(1000, "limits").of("memory"), (256 + 4 * 1000) * kMi);
  const GnnJob job = sample_job({{"/spec/placement/ranks", 1000}, {"/spec/placement/ranksPerServer", 1}});
  EXPECT_EQ(gang_of(*job.job, {}).launcher, read_pod(launcher_pod(job, {}, 1)).requests);
}

TEST(Demand, TheLaunchersMemoryIsOfServersNotOfRanks) {
  const GnnJob job = sample_job({{"/spec/placement/ranks", 128}, {"/spec/placement/ranksPerServer", 8}});
  EXPECT_EQ(gang_of(*job.job, {}).launcher.of("memory"), 128 * kMi) << "16 servers";
}

}  // namespace
}  // namespace atl::ctl
