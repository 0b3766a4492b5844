// Upgrades while jobs exist: the resource gets fields whose defaults the API server fills into every job, and
// the operator gets another engine. Nothing that runs, waits or is suspended is made again for that, and no
// run has ranks of two engines.
#include "operator_controller/one_decision.h"
#include "operator_controller/queue_world.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// What the API server serves after an upgrade: a default spelled out, and a field that only the next release
/// knows.
void upgrade_resource(World& world) {
  json& spec = world.atoll.job()["spec"];
  spec["training"]["checkpoint"]["keep"] = 2;
  spec["runPolicy"]["progressDeadlineSeconds"] = 1800;
  spec["training"]["novelty"] = 0.5;
  world.cluster.is_changed = true;
}

std::set<std::string> uids(const World& world) {
  std::set<std::string> all;
  for (const auto& [name, pod] : world.cluster.pods) all.insert(pod.at("metadata").at("uid"));
  for (const auto& [key, object] : world.cluster.objects)
    if (key.first != Kind::kJob) all.insert(object.at("metadata").at("uid"));
  return all;
}

std::set<std::string> images(const World& world) {
  std::set<std::string> all;
  for (const auto& [name, pod] : world.cluster.pods)
    all.insert(pod.at("spec").at("containers")[0].at("image"));
  return all;
}

/// Somebody changes its spec, as the API server counts it.
void touch(World& world, const char* field, json value) {
  world.atoll.job()["spec"]["runPolicy"][field] = std::move(value);
  json& generation = world.atoll.job()["metadata"]["generation"];
  generation = generation.get<int>() + 1;
  world.cluster.is_changed = true;
}

TEST(Upgrade, AJobWhoseTemplateHasMarksOfKueuesGoesOnWithoutThem) {
  const json marked = sample_job_json(
      {{"/spec/template",
        {{"metadata", {{"labels", {{"kueue.x-k8s.io/podset", "worker"}, {"team", "graphs"}}}}}}}});
  World world;
  json taken = marked;
  Status status;
  set_condition(status.conditions, {kCreated, false, kPreparing, "", world.cluster.now, 1});
  taken["status"] = parse_json(write_status(status));
  world.atoll.submit(taken);
  world.until_training();
  EXPECT_EQ(label_of(world.cluster.pods.at("cora-0-0"), "team"), "graphs");
  EXPECT_EQ(label_of(world.cluster.pods.at("cora-0-0"), kPodSetLabel), "");
  world.run_to_end();
  expect_success(world);
  World other;
  other.atoll.submit(marked);
  other.atoll.run(3);
  EXPECT_THAT(condition(other, kFailed).message, HasSubstr("kueue.x-k8s.io/podset: is the operator's"))
      << "a new one can say it otherwise";
}

/// The operator refuses more fields of new Kubernetes than its predecessor did.
TEST(Upgrade, AJobThatRunsIsNotEndedForWhatOnlyNewOnesMayNotSay) {
  const json engine = {{"name", "engine"}, {"restartPolicy", "Never"}};
  const json given =
      sample_job_json({{"/spec/template",
                        {{"spec", {{"hostnameOverride", "here"}, {"containers", json::array({engine})}}}}}});
  World world;
  json taken = given;
  Status status;
  set_condition(status.conditions, {kCreated, false, kPreparing, "", world.cluster.now, 1});
  taken["status"] = parse_json(write_status(status));
  world.atoll.submit(taken);
  world.until_training();
  EXPECT_EQ(world.cluster.pods.at("cora-0-0").at("spec").at("hostnameOverride"), "here");
  world.run_to_end();
  expect_success(world);
  World other;
  other.atoll.submit(given);
  other.atoll.run(3);
  EXPECT_THAT(condition(other, kFailed).message,
              AllOf(HasSubstr("template.spec.hostnameOverride: can't be set"),
                    HasSubstr("template.spec.containers[engine].restartPolicy: can't be set")));
}

TEST(Upgrade, OfTheResourceLeavesARunningJobAlone) {
  World world;
  world.atoll.submit(sample_job_json());
  world.until_training();
  const auto before = uids(world);
  upgrade_resource(world);
  world.atoll.run(3);
  EXPECT_EQ(uids(world), before);
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1) << "a restart finds what was prepared";
}

TEST(Upgrade, OfTheResourceLeavesASuspendedJobPrepared) {
  World world;
  world.atoll.submit(sample_job_json());
  world.until_training();
  touch(world, "suspend", true);
  world.atoll.run(60, [&] { return world.atoll.state() == "Suspended"; });
  const auto before = uids(world);
  upgrade_resource(world);
  world.atoll.run(20);
  EXPECT_EQ(uids(world), before);
  touch(world, "suspend", false);
  world.run_to_end();
  expect_success(world);
  EXPECT_EQ(world.cluster.prepares, 1);
}

TEST(Upgrade, OfTheResourceLeavesJobsTheirPlaceInAQueueAndTheirPods) {
  for (const bool runs : {false, true}) {
    QueueWorld world;
    if (!runs) world.kueue.cores = 0;
    world.atoll.submit(queued_job());
    if (runs)
      world.until_training();
    else
      world.atoll.run(20);
    const auto before = uids(world);
    ASSERT_FALSE(before.empty());
    upgrade_resource(world);
    world.atoll.run(3);
    EXPECT_EQ(uids(world), before) << (runs ? "running" : "queued");
    EXPECT_EQ(world.trains(), runs);
    world.kueue.cores = 8000;
    world.run_to_end();
    expect_success(world);
  }
}

/// A later release may make something else of the very spec: what was recorded holds.
TEST(Upgrade, OfTheOperatorLeavesWhatNobodyTouched) {
  QueueWorld world;
  world.atoll.submit(queued_job());
  world.until_training();
  const auto before = uids(world);
  world.atoll.job()["spec"]["training"]["seed"] = 7;
  world.atoll.run(10);
  EXPECT_EQ(uids(world), before);
}

/// Operators left that reason in jobs that were resumed before their pods were gone.
TEST(Upgrade, OfTheOperatorRestartsNoJobThatOnceWasToBeSuspended) {
  for (const json& job : {sample_job_json(), mpi_job_json()}) {
    SCOPED_TRACE(job.at("spec").value("launcher", "atoll"));
    World world;
    world.atoll.submit(job);
    world.until_training();
    const auto before = uids(world);
    Status status = world.atoll.status();
    set_condition(status.conditions, {kSuspended, false, "Suspending", "", world.cluster.now, 1});
    world.atoll.job()["status"] = parse_json(write_status(status));
    world.cluster.is_changed = true;
    world.atoll.run(3);
    EXPECT_EQ(uids(world), before);
    EXPECT_TRUE(world.trains());
    EXPECT_EQ(condition(world, kSuspended).reason, "Resumed");
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.runs["cora"].launches, 1);
    EXPECT_EQ(world.atoll.status().attempt, 1);
  }
}

TEST(Upgrade, AJobWithFieldsOfALaterReleaseWaitsForItsOperator) {
  World world;
  world.atoll.submit(sample_job_json({{"/spec/training", {{"novelty", 0.5}}}}));
  world.atoll.run(60);
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  const Condition created = condition(world, kCreated);
  EXPECT_EQ(created.reason, "NewerManifest");
  EXPECT_THAT(created.message, AllOf(HasSubstr("training.novelty"), HasSubstr("upgrade the operator")));
  world.atoll.job()["spec"]["training"].erase("novelty");  // as an operator reads it that knows it
  world.cluster.is_changed = true;
  world.run_to_end();
  expect_success(world);
}

/// The API server keeps whatever is in a map with a short form: no upgrade would help.
TEST(Upgrade, AMisspeltFieldOfAMapWithAShortFormIsNoLaterReleases) {
  World world;
  world.atoll.submit(sample_job_json({{"/spec/placement/partitioner", {{"kinds", "metis"}}},
                                      {"/spec/training/checkpoint", {{"evry", 10}}}}));
  world.atoll.run(60);
  EXPECT_THAT(world.cluster.pods, IsEmpty());
  const Condition failed = condition(world, kFailed);
  EXPECT_EQ(failed.reason, "InvalidSpec");
  EXPECT_THAT(failed.message,
              AllOf(HasSubstr("placement.partitioner.kinds: unknown field (did you mean kind? known: "),
                    HasSubstr("training.checkpoint.evry: unknown field (did you mean every? known: ")));
}

TEST(Upgrade, AJobWithBothWaitsForItsOperator) {
  World world;
  world.atoll.submit(sample_job_json(
      {{"/spec/placement/partitioner", {{"kinds", "metis"}}}, {"/spec/training", {{"novelty", 0.5}}}}));
  world.atoll.run(60);
  EXPECT_EQ(condition(world, kCreated).reason, "NewerManifest");
}

TEST(Upgrade, OfTheEngineReachesNoJobThatHasBegun) {
  World world;
  world.atoll.submit(sample_job_json());
  world.until_training();
  world.atoll.settings.image = "atoll/engine:2";
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(60, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_THAT(images(world), ElementsAre("atoll/engine:1")) << "workers and launchers of both attempts";
  touch(world, "suspend", true);
  world.atoll.run(200, [&] { return world.atoll.state() == "Suspended"; });
  touch(world, "suspend", false);
  world.atoll.run(200, [&] { return world.trains(); });
  EXPECT_THAT(images(world), ElementsAre("atoll/engine:1"));
  EXPECT_EQ(world.atoll.status().made_of.image, "atoll/engine:1");
}

/// By an operator that recorded none.
TEST_F(Decide, TheImageOfPodsThatRunIsTheJobs) {
  train();
  world.atoll.job()["status"].erase("madeOf");
  world.atoll.settings.image = "atoll/engine:2";
  world.cluster.end_pod("cora-1-0", 1, "Error", "");
  world.atoll.run(60, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_THAT(images(world), ElementsAre("atoll/engine:1"));
}

TEST(Upgrade, ATagIsReplacedByTheDigestThatAPodTells) {
  const std::string digest = "@sha256:" + std::string(64, 'a');
  struct Case {
    const char *image, *told, *policy;
    bool is_pinned;
  };
  for (const Case& each : {Case{"reg:5000/atoll/engine:1", "reg:5000/atoll/engine", "IfNotPresent", true},
                           Case{"atoll/engine:1", "docker.io/atoll/engine", "Always", true},
                           Case{"atoll/engine:1", "docker-pullable://atoll/engine", "IfNotPresent", true},
                           Case{"atoll/engine:1", "mirror.example/engine", "IfNotPresent", false},
                           Case{"atoll/engine:1", "docker.io/atoll/engine", "Never", false}}) {
    SCOPED_TRACE(each.told);
    World world;
    world.atoll.settings.image = each.image;
    world.atoll.settings.pull_policy = each.policy;
    world.atoll.add = [&](Observed& seen) {
      for (PodView& pod : seen.pods)
        for (ContainerView& container : pod.containers) container.image_id = each.told + digest;
    };
    world.atoll.submit(sample_job_json());
    world.until_training();
    const std::string named = std::string(each.image).substr(0, std::string(each.image).rfind(':'));
    const std::string pinned = each.is_pinned ? named + digest : each.image;
    EXPECT_EQ(world.atoll.status().made_of.image, pinned);
    EXPECT_EQ(world.cluster.pods.at("cora-0-0").at("spec").at("containers")[0].at("image"), pinned)
        << "the prepare pod tells it before there are others";
  }
}

}  // namespace
}  // namespace atl::ctl
