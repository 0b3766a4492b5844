// When the number of ranks in a pod is open, between which gangs the nodes decide, and what is written of it.
#include "operator/objects/pod_sizing.h"

#include <gmock/gmock.h>

#include "operator/objects/objects.h"
#include "operator_objects/sample_pods.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

nlohmann::json open_job(Changes changes = {}) {
  nlohmann::json job = sample_job_json(
      {{"/spec/placement", {{"ranks", 4}}}, {"/spec/resources", {{"cpu", 1.5}, {"nvidia.com/gpu", 1}}}});
  for (const auto& [pointer, value] : changes) job[nlohmann::json::json_pointer(pointer)] = value;
  return job;
}

/// What becomes of the job, and between which gangs the nodes were to decide.
struct Sized {
  PodSizing sizing;
  std::vector<Gang> ways;
};

Sized sized(const nlohmann::json& job, const std::optional<PodSize>& answer) {
  Sized result;
  result.sizing = pod_sizing(read_gnn_job(job.dump()), kSettings, [&](std::vector<Gang> ways) {
    result.ways = std::move(ways);
    return answer;
  });
  return result;
}

TEST(PodSizing, IsBetweenTheGangsWhosePodsAreMadeThen) {
  const Sized job = sized(open_job(), PodSize{2, "two"});
  std::vector<std::size_t> pods;
  for (const Gang& way : job.ways) {
    pods.push_back(way.servers.size());
    const GnnJob as_said =
        sample_job({{"/spec/placement", {{"ranks", 4}, {"ranksPerServer", way.servers[0].size()}}},
                    {"/spec/resources", {{"cpu", 1.5}, {"nvidia.com/gpu", 1}}}});
    const auto made = parse_json(worker_pod(as_said, kSettings, 0, way.servers[0], 0));
    EXPECT_EQ(way.server, requests_of(made.at("spec"))) << "with /dev/shm: " << way.server.text();
  }
  EXPECT_THAT(pods, ElementsAre(1, 2, 4));
  EXPECT_TRUE(job.sizing.is_another);
  EXPECT_EQ(job.sizing.size, (PodSize{2, "two"}));
  nlohmann::json as_said = open_job();
  as_said["spec"]["placement"]["ranksPerServer"] = 2;
  EXPECT_EQ(job.sizing.made_of, read_gnn_job(as_said.dump()).made_of);
}

TEST(PodSizing, IsTheNextWhereTheEngineRefusesOne) {
  std::vector<int> answers = {2, 3};  // the last first
  const PodSizing sizing =
      pod_sizing(read_gnn_job(open_job().dump()), kSettings, [&](const std::vector<Gang>&) {
        const int ranks = answers.back();
        answers.pop_back();
        return std::optional(PodSize{ranks, "for a test"});
      });
  EXPECT_EQ(sizing.size.ranks, 2) << "three don't divide four";
  EXPECT_THAT(answers, IsEmpty());
}

TEST(PodSizing, OfOneRankMakesNothingElseOfTheJob) {
  const Sized job = sized(open_job(), PodSize{1, "one"});
  EXPECT_FALSE(job.sizing.is_another);
  EXPECT_EQ(job.sizing.size, (PodSize{1, "one"}));
  EXPECT_EQ(job.sizing.made_of, read_gnn_job(open_job().dump()).made_of);
}

TEST(PodSizing, WaitsForNodesAndForTheEndOfASuspension) {
  const Sized none = sized(open_job(), std::nullopt);
  EXPECT_FALSE(none.sizing.is_another);
  EXPECT_EQ(none.sizing.size.ranks, 0);
  EXPECT_THAT(none.sizing.size.reason, HasSubstr("no nodes could hold all ranks"));
  const Sized suspended = sized(open_job({{"/spec/runPolicy", {{"suspend", true}}}}), PodSize{4, "four"});
  EXPECT_THAT(suspended.ways, IsEmpty()) << "nobody is asked";
  EXPECT_EQ(suspended.sizing.size.ranks, 0);
  EXPECT_FALSE(suspended.sizing.size.reason.empty());
}

TEST(PodSizing, IsNotForJobsThatSayItOrWhoseStrategyHasServersOfItsOwn) {
  for (const nlohmann::json& job : {sample_job_json(), open_job({{"/spec/placement/ranksPerServer", 1}}),
                                    open_job({{"/spec/strategy", {{"kind", "granndis"}}}}),
                                    open_job({{"/spec/resources", {{"cpu", 1}}}})}) {
    const Sized result = sized(job, PodSize{4, "four"});
    EXPECT_THAT(result.ways, IsEmpty());
    EXPECT_EQ(result.sizing.size, PodSize());
    EXPECT_FALSE(result.sizing.is_another);
  }
}

TEST(PodSizing, IsOpenForNewJobsAndThoseThatSayItIs) {
  GnnJob job = read_gnn_job(open_job().dump());
  EXPECT_TRUE(is_pod_size_open(job, true));
  EXPECT_FALSE(is_pod_size_open(job, false)) << "an operator of an earlier release has taken it";
  job.status.pod_size.reason = "no nodes yet";
  EXPECT_TRUE(is_pod_size_open(job, false));
  nlohmann::json chosen = open_job();
  chosen["status"]["podSize"] = {{"ranksPerServer", 4}, {"reason", "four"}};
  job = read_gnn_job(chosen.dump());
  chosen["status"]["madeOf"] = {{"manifest", job.made_of.manifest}, {"prepared", job.made_of.prepared}};
  EXPECT_FALSE(is_pod_size_open(read_gnn_job(chosen.dump()), false)) << "it was chosen";
  chosen["spec"]["resources"]["cpu"] = 2;
  chosen["metadata"]["generation"] = 2;
  EXPECT_TRUE(is_pod_size_open(read_gnn_job(chosen.dump()), false)) << "for another spec";
}

TEST(PodSizing, IsTakenBackWhereTheSpecHasChanged) {
  nlohmann::json chosen = open_job({{"/spec/runPolicy", {{"suspend", true}}}});
  chosen["status"]["podSize"] = {{"ranksPerServer", 4}, {"reason", "four"}};
  chosen["status"]["madeOf"] = {{"manifest", "0123456789"}, {"image", "atoll/engine:1"}};
  const Sized job = sized(chosen, std::nullopt);
  EXPECT_TRUE(job.sizing.is_another);
  EXPECT_EQ(job.sizing.size.ranks, 0);
  EXPECT_EQ(job.sizing.made_of.manifest, read_gnn_job(open_job().dump()).made_of.manifest);
}

}  // namespace
}  // namespace atl::ctl
