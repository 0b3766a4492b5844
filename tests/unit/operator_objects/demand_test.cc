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

}  // namespace
}  // namespace atl::ctl
