// Jobs of four ranks with a GPU each, whose manifests don't say how many ranks share a pod, and what became
// of them.
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <string>
#include <vector>

#include "operator/objects/names.h"
#include "operator_controller/one_decision.h"

namespace atl::ctl {

/// Four ranks with a GPU each.
inline json job_on_gpus(Changes changes = {}) {
  json job = sample_job_json({{"/spec/placement", {{"ranks", 4}}}});
  job["spec"]["resources"][kGpuResource] = 1;
  for (const auto& [pointer, value] : changes) job[json::json_pointer(pointer)] = value;
  return job;
}

/// Nodes with so many GPUs each, and cores for as many ranks.
inline void equip(World& world, int gpus) {
  for (auto& [name, node] : world.cluster.nodes) node.gpus = gpus, node.cores = 8000;
  world.cluster.is_changed = true;
}

/// placement.ranksPerServer of the manifests that pods mount; 0 where one says nothing of it.
inline std::vector<int> told_to_pods(const World& world) {
  std::vector<int> all;
  for (const auto& [key, object] : world.cluster.objects)
    if (key.first == Kind::kConfigMap && object.at("data").contains("job.yaml"))
      all.push_back(parse_json(object.at("data").at("job.yaml").get<std::string>())
                        .at("spec")
                        .at("placement")
                        .value("ranksPerServer", 0));
  return all;
}

/// Of each worker, in order.
inline std::vector<std::int64_t> gpus_of_workers(const World& world) {
  std::vector<std::int64_t> all;
  for (const std::string& pod : world.cluster.pods_of("cora", kWorkerRole))
    all.push_back(requests_of(world.cluster.pods.at(pod).at("spec")).of(kGpuResource));
  return all;
}

inline void expect_one_pod(World& world) {
  EXPECT_EQ(world.atoll.status().pod_size.ranks, 4);
  EXPECT_THAT(gpus_of_workers(world), testing::ElementsAre(4));
  EXPECT_THAT(told_to_pods(world), testing::ElementsAre(4));
  ASSERT_THAT(world.atoll.status().servers, testing::SizeIs(1));
  EXPECT_THAT(world.atoll.status().servers[0].ranks, testing::ElementsAre(0, 1, 2, 3));
}

inline void expect_a_pod_for_each_rank(World& world) {
  EXPECT_THAT(gpus_of_workers(world), testing::ElementsAre(1, 1, 1, 1));
  EXPECT_THAT(told_to_pods(world), testing::ElementsAre(0));
  EXPECT_THAT(world.atoll.status().servers, testing::SizeIs(4));
}

}  // namespace atl::ctl
