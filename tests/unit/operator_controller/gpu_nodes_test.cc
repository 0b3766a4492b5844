// Jobs on nodes with GPUs: which nodes are used, what is said of pods that share one, and what follows from a
// bad one. The GPUs are numbers in a cluster in memory.
#include "operator_controller/one_decision.h"

namespace atl::ctl {
namespace {

using testing::AllOf;
using testing::AnyOf;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct GpuNodes : Decide {
  GpuNodes() {
    for (auto& [name, node] : world.cluster.nodes) node.gpus = 4;
  }
  void submit_on_gpus(Changes changes = {}) {
    json job = sample_job_json(changes);
    job["spec"]["resources"][kGpuResource] = 1;
    world.atoll.submit(job);
  }
  void train_on_gpus() {
    submit_on_gpus();
    world.until_training();
  }
  /// The first attempt ends with the words of rank 2, before which mpirun has seen rank 0 end.
  void fail_with(const std::string& words) {
    const json first = {{"rank", 0}, {"pod", "cora-0-0"}, {"node", node_of_pod("cora-0-0")}, {"exitCode", 1}};
    const json message = {
        {"status", 1}, {"message", "atoll: rank 2 on cora-1-0: " + words}, {"culprit", first}};
    world.cluster.end_pod("cora-launcher-1", 1, "Error", message.dump());
  }
  /// The runtime of server 1's node has these words against its container.
  void start_in_vain(const std::string& words) {
    submit_on_gpus();
    const auto is_bound = [&] {
      const auto worker = world.cluster.pods.find("cora-1-0");
      return worker != world.cluster.pods.end() && !node_of(worker->second).empty();
    };
    world.atoll.run(600, is_bound);
    ASSERT_TRUE(is_bound());
    world.cluster.end_pod("cora-1-0", 128, "StartError", words);
  }
  std::vector<std::string> nodes() {
    std::vector<std::string> all;
    for (const ServerPlace& server : world.atoll.status().servers) all.push_back(server.node);
    return all;
  }
  std::string placed() { return find_condition(world.atoll.status().conditions, kPlaced)->message; }
};

TEST_F(GpuNodes, WhoseGpuIsBrokenAreLeftAtOnce) {
  world.cluster.training.seconds = 100'000;
  train_on_gpus();
  const std::string bad = node_of_pod("cora-1-0"), good = node_of_pod("cora-0-0");
  fail_with("device cuda: cudaStreamSynchronize: uncorrectable ECC error encountered");
  world.atoll.run(200, [&] { return world.cluster.runs["cora"].launches == 2; });
  ASSERT_EQ(world.cluster.runs["cora"].launches, 2);
  EXPECT_THAT(nodes(), AllOf(Contains(good), Not(Contains(bad))));
  EXPECT_FALSE(world.cluster.pods.contains("cora-1-0")) << "it ran on, and would have had the next ranks";
  EXPECT_TRUE(world.cluster.pods.contains("cora-0-0"));
  const Status status = world.atoll.status();
  EXPECT_EQ(status.restarts.back().reason, "GpuFault");
  EXPECT_EQ(status.restarts.back().culprit, (Culprit{2, "", "cora-1-0", bad}));
  EXPECT_EQ(status.failures, 0) << "it is no fault of the job's";
  EXPECT_EQ(status.disruptions, 1);
}

TEST_F(GpuNodes, OfAnErrorThatNamesNoRankAreOfTheRankThatEnded) {
  world.cluster.training.seconds = 100'000;
  train_on_gpus();
  const json ended = {{"rank", 2}, {"pod", "cora-1-0"}, {"node", node_of_pod("cora-1-0")}, {"exitCode", 1}};
  const json message = {{"status", 1},
                        {"message", "atoll: device cuda: cudaMalloc: uncorrectable NVLink error detected"},
                        {"culprit", ended}};
  world.cluster.end_pod("cora-launcher-1", 1, "Error", message.dump());
  world.atoll.run(20);
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "GpuFault");
  EXPECT_EQ(world.atoll.status().restarts.back().culprit.pod, "cora-1-0");
}

TEST_F(GpuNodes, OfWhichTheDriverSpeaksAreLeftToo) {
  world.cluster.training.seconds = 100'000;
  train_on_gpus();
  const std::string bad = node_of_pod("cora-1-0");
  fail_with("NVRM: Xid (PCI:0000:3b:00): 119, pid=17, name=atoll, Timeout after 6s of waiting for RPC");
  world.atoll.run(200, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "GpuFault");
  EXPECT_EQ(world.atoll.status().restarts.back().culprit, (Culprit{2, "", "cora-1-0", bad}));
  EXPECT_THAT(nodes(), Not(Contains(bad)));
}

TEST_F(GpuNodes, AreNotToBlameForAnXidThatAProgramCauses) {
  world.cluster.training.seconds = 100'000;
  train_on_gpus();
  fail_with("NVRM: Xid (PCI:0000:3b:00): 31, pid=17, name=atoll, MMU Fault");
  world.atoll.run(20);
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "Exit");
}

TEST_F(GpuNodes, ThatGiveNoGpuToAContainerAreLeftBeforeAnythingIsLaunched) {
  start_in_vain("error running prestart hook: nvidia-container-cli: device error: unknown device");
  const std::string bad = node_of_pod("cora-1-0");
  world.atoll.run(200, [&] { return world.cluster.runs["cora"].launches == 1; });
  ASSERT_EQ(world.cluster.runs["cora"].launches, 1);
  EXPECT_THAT(nodes(), Not(Contains(bad)));
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "GpuFault");
  EXPECT_EQ(world.atoll.status().failures, 0);
}

TEST_F(GpuNodes, MayBeInnocentOfAContainerThatCannotBeSetUpSoThatCounts) {
  start_in_vain("nvidia-container-cli: mount error: file creation failed: libnvidia-ml.so.1: file exists");
  world.atoll.run(200, [&] { return !world.atoll.status().restarts.empty(); });
  ASSERT_FALSE(world.atoll.status().restarts.empty());
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "GpuDriver");
  EXPECT_EQ(world.atoll.status().failures, 1) << "else such an image would use up node after node";
}

TEST_F(GpuNodes, WhoseDriverDoesNotSuitTheEngineAreLeftAndCounted) {
  world.cluster.training.seconds = 100'000;
  train_on_gpus();
  const std::string bad = node_of_pod("cora-1-0");
  fail_with(
      "device cuda: the NVIDIA driver of this machine is missing or older than CUDA 13.0; use --device cpu");
  world.atoll.run(200, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "GpuDriver");
  EXPECT_THAT(nodes(), Not(Contains(bad)));
  EXPECT_EQ(world.atoll.status().failures, 1);
}

TEST_F(GpuNodes, AreNotToBlameForWhatARankDoes) {
  world.cluster.training.seconds = 100'000;
  train_on_gpus();
  fail_with("device cuda: cudaMalloc: the GPU has no 12.0 MB left");
  world.atoll.run(200, [&] { return world.cluster.runs["cora"].launches == 2; });
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "Exit");
  EXPECT_TRUE(world.cluster.pods.contains("cora-1-0"));
}

TEST_F(GpuNodes, OfJobsWithoutGpusNobodySpeaks) {
  world.cluster.training.seconds = 100'000;
  train();
  fail_with("device cuda: cudaMalloc: uncorrectable ECC error encountered");
  world.atoll.run(20);
  EXPECT_EQ(world.atoll.status().restarts.back().reason, "Exit");
}

/// Also where the operator dies between the word and what follows from it.
TEST(GpuNodesInAnyLife, AreLeftWhateverTheOperatorSurvives) {
  live([](World& world) {
    for (auto& [name, node] : world.cluster.nodes) node.gpus = 4;
    json job = sample_job_json();
    job["spec"]["resources"][kGpuResource] = 1;
    world.atoll.submit(job);
    world.until_training();
    const std::string bad = node_of(world.cluster.pods.at("cora-1-0"));
    const json message = {{"status", 1},
                          {"message", "device cuda: cudaFree: uncorrectable ECC error encountered"},
                          {"culprit", {{"rank", 2}, {"pod", "cora-1-0"}, {"node", bad}, {"exitCode", 1}}}};
    const auto launchers = world.cluster.pods_of("cora", kLauncherRole);
    world.cluster.end_pod(launchers.back(), 1, "Error", message.dump());
    world.run_to_end();
    expect_success(world);
    EXPECT_FALSE(world.cluster.pods.contains("cora-1-0"));
    for (const ServerPlace& server : world.atoll.status().servers) EXPECT_NE(server.node, bad);
  });
}

TEST_F(GpuNodes, WithADriverOlderThanTheImageNeedsAreNotUsed) {
  world.atoll.settings.oldest_driver = 580;
  world.cluster.nodes["n1"].labels["nvidia.com/cuda.driver-version.major"] = "535";
  world.cluster.nodes["n2"].labels["nvidia.com/cuda.driver.major"] = "570";
  world.cluster.nodes["n3"].labels["nvidia.com/cuda.driver-version.major"] = "580";  // and n4 doesn't tell
  submit_on_gpus();
  until_placed();
  for (const std::string& node : nodes()) EXPECT_THAT(node, AnyOf("n3", "n4"));
}

TEST_F(GpuNodes, AreNamedWhereTheirDriversAreTooOld) {
  world.atoll.settings.oldest_driver = 580;
  for (auto& [name, node] : world.cluster.nodes) node.labels["nvidia.com/cuda.driver-version.major"] = "535";
  submit_on_gpus();
  world.atoll.run(100);
  EXPECT_THAT(placed(), HasSubstr("n1 has NVIDIA's driver 535, and the engine's image needs 580 or newer"));
}

TEST_F(GpuNodes, OfAnImageOfTheJobsOwnAreItsOwnConcern) {
  world.atoll.settings.oldest_driver = 580;
  for (auto& [name, node] : world.cluster.nodes) node.labels["nvidia.com/cuda.driver-version.major"] = "535";
  submit_on_gpus({{"/spec/image", "mine:1"}});
  until_placed();
  EXPECT_EQ(nodes().size(), 2U);
}

TEST_F(GpuNodes, ThatHaveSeveralPodsOfAJobAreNamedWithWhatPutsThemTogether) {
  for (auto& [name, node] : world.cluster.nodes) node.cores = 8000;
  submit_on_gpus({{"/spec/placement", {{"ranks", 4}, {"ranksPerServer", 1}}}});
  until_placed();
  EXPECT_THAT(placed(), AllOf(HasSubstr("exchange through the network and not by NVLink"),
                              HasSubstr("placement.ranksPerServer: 4 puts so many ranks into one pod")));
  world.run_to_end();
  expect_success(world);
}

TEST_F(GpuNodes, WithSlicesOfGpusHaveOneRankInAPod) {
  world.atoll.settings.gpu_resource = "nvidia.com/mig-1g.10gb";
  for (auto& [name, node] : world.cluster.nodes) {
    node.gpu_resource = world.atoll.settings.gpu_resource;
    node.cores = 8000;
    node.taints = {{kGpuResource, "present", "NoSchedule"}};
  }
  submit_on_gpus({{"/spec/placement", {{"ranks", 4}}}});
  until_placed();
  EXPECT_THAT(nodes(), testing::SizeIs(4));
  EXPECT_THAT(placed(), Not(HasSubstr("NVLink"))) << "there is nothing to be mended";
  world.run_to_end();
  expect_success(world);
}

TEST_F(GpuNodes, WithSlicesOfGpusHaveNoPodOfSeveralRanks) {
  world.atoll.settings.gpu_resource = "nvidia.com/mig-1g.10gb";
  submit_on_gpus();
  world.atoll.run(2);
  EXPECT_THAT(find_condition(world.atoll.status().conditions, kFailed)->message,
              HasSubstr("placement.ranksPerServer: 2 ranks of a pod would share one nvidia.com/mig-1g.10gb"));
}

TEST_F(GpuNodes, WithOnePodEachAreNotSpokenOf) {
  submit_on_gpus();
  until_placed();
  EXPECT_THAT(placed(), Not(HasSubstr("NVLink")));
}

TEST_F(GpuNodes, WithoutGpusMayHaveSeveralPods) {
  for (auto& [name, node] : world.cluster.nodes) node.cores = 8000;
  submit({{"/spec/placement", {{"ranks", 4}}}});
  until_placed();
  EXPECT_THAT(placed(), Not(HasSubstr("NVLink")));
}

}  // namespace
}  // namespace atl::ctl
