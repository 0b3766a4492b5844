// How many ranks share a pod, against a plain search over lists of nodes.
#include "operator/plan/pod_size.h"

#include <gmock/gmock.h>

#include <map>
#include <numeric>
#include <random>

#include "job/load.h"
#include "operator/plan/gang.h"

namespace atl::ctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::int64_t kGi = 1LL << 30;

Job job(const std::vector<std::string>& changes) {
  return parse_job(
             "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: j, namespace: team}\nspec:\n"
             "  dataset: {name: d}\n  model: {kind: gcn}\n",
             "j.yaml", changes)
      .job;
}

/// What a rank asks for.
struct Demand {
  int ranks = 8, cores = 2, gibibytes = 4;  // and a GPU
  bool in_one_rack = false;
};

std::vector<Gang> ways(const Demand& demand) {
  std::vector<Gang> all;
  for (const int size : pod_sizes(demand.ranks)) {
    std::vector<std::string> changes{
        "placement.ranks=" + std::to_string(demand.ranks), "placement.ranksPerServer=" + std::to_string(size),
        "resources={cpu: " + std::to_string(demand.cores) + ", memory: " + std::to_string(demand.gibibytes) +
            "Gi, nvidia.com/gpu: 1}"};
    if (demand.in_one_rack)
      changes.insert(changes.end(),
                     {"placement.topologyLevels=[rack, kubernetes.io/hostname]", "placement.within=rack"});
    all.push_back(gang_of(job(changes), std::vector<PairBytes>{}));
  }
  return all;
}

struct Machine {
  int gpus = 8, cores = 64, gibibytes = 512;
  std::string rack{};
  bool cordoned = false;
  int daemon_cores = 0, stranger_cores = 0;  // that pods of a daemon set, and of somebody, take
};

PodState pod_on(const std::string& node, int cores, bool of_daemon_set) {
  PodState pod;
  pod.name = "other/" + node + (of_daemon_set ? "-agent" : "-pod");
  pod.node = node;
  pod.of_daemon_set = of_daemon_set;
  pod.requests = Resources({{"cpu", cores * 1000}, {"pods", 1}});
  return pod;
}

/// n1, n2, …
Snapshot cluster(const std::vector<Machine>& machines) {
  Snapshot snapshot;
  for (const Machine& machine : machines) {
    NodeState& node = snapshot.nodes.emplace_back();
    node.name = "n" + std::to_string(snapshot.nodes.size());
    node.labels = {{"kubernetes.io/hostname", node.name}};
    if (!machine.rack.empty()) node.labels["rack"] = machine.rack;
    node.ready = true;
    node.cordoned = machine.cordoned;
    node.allocatable =
        Resources({{"cpu", machine.cores * 1000}, {"memory", machine.gibibytes * kGi}, {"pods", 110}});
    if (machine.gpus > 0) node.allocatable.add(kGpuResource, double(machine.gpus));
    if (machine.daemon_cores > 0) snapshot.pods.push_back(pod_on(node.name, machine.daemon_cores, true));
    if (machine.stranger_cores > 0) snapshot.pods.push_back(pod_on(node.name, machine.stranger_cores, false));
  }
  return snapshot;
}

std::optional<PodSize> chosen(const Demand& demand, const std::vector<Machine>& machines) {
  return largest_pods(ways(demand), cluster(machines), kGpuResource);
}

/// Fills machine after machine with pods of so many ranks, one at a time, and counts them.
int pods_that_fit(const Demand& demand, int size, const Machine& machine) {
  int pods = 0, gpus = machine.gpus, cores = machine.cores - machine.daemon_cores, memory = machine.gibibytes;
  while (!machine.cordoned) {
    gpus -= size, cores -= size * demand.cores, memory -= size * demand.gibibytes;
    if (gpus < 0 || cores < 0 || memory < 0) break;
    ++pods;
  }
  return pods;
}

int searched(const Demand& demand, const std::vector<Machine>& machines) {
  for (int size = demand.ranks; size >= 1; --size) {
    if (demand.ranks % size != 0) continue;
    std::map<std::string, int> pods;
    for (const Machine& machine : machines)
      pods[demand.in_one_rack ? machine.rack : ""] += pods_that_fit(demand, size, machine);
    for (const auto& [rack, count] : pods)
      if (count * size >= demand.ranks) return size;
  }
  return 0;
}

TEST(PodSizes, AreWhatAPlainSearchFinds) {
  std::minstd_rand random(7);
  const auto one_of = [&](std::vector<int> all) { return all[random() % all.size()]; };
  std::map<int, int> seen;
  for (int draw = 0; draw < 3000; ++draw) {
    const Demand demand{.ranks = one_of({2, 3, 4, 6, 8, 12, 16}),
                        .cores = one_of({1, 4, 8}),
                        .gibibytes = one_of({1, 16, 64}),
                        .in_one_rack = one_of({0, 0, 1}) == 1};
    std::vector<Machine> machines;
    for (int n = one_of({0, 1, 2, 3, 6}); n > 0; --n)
      machines.push_back({.gpus = one_of({0, 1, 2, 4, 8, 8}),
                          .cores = one_of({4, 16, 64, 96}),
                          .gibibytes = one_of({32, 256, 1024}),
                          .rack = one_of({0, 1}) == 0 ? "a" : "b",
                          .cordoned = one_of({0, 0, 0, 1}) == 1,
                          .daemon_cores = one_of({0, 1, 3}),
                          .stranger_cores = one_of({0, 2, 60})});
    const auto found = chosen(demand, machines);
    const int expected = searched(demand, machines);
    ASSERT_EQ(found ? found->ranks : 0, expected) << "draw " << draw << ": " << (found ? found->reason : "");
    ++seen[expected];
  }
  EXPECT_GT(seen[0], 100);
  EXPECT_GT(seen[1], 10);
  EXPECT_GT(seen[4] + seen[6] + seen[8], 100) << "the draws have no job that shares a node";
}

TEST(PodSizes, AreSaidWithTheNodeThatTheyFit) {
  EXPECT_EQ(chosen({}, {{.gpus = 0}, {}})->reason, "8 ranks in 1 pod: node n2 has 8 nvidia.com/gpu");
  EXPECT_EQ(chosen({.ranks = 16}, {{}, {}})->reason, "16 ranks in 2 pods of 8: node n1 has 8 nvidia.com/gpu");
  EXPECT_EQ(chosen({.ranks = 2}, {{.gpus = 1}, {.gpus = 1}})->reason,
            "2 ranks in 2 pods: node n1 has 1 nvidia.com/gpu");
  EXPECT_EQ(chosen({.ranks = 12}, {{}, {}})->reason, "12 ranks in 2 pods of 6: node n1 has 8 nvidia.com/gpu");
  EXPECT_EQ(chosen({}, {}), std::nullopt);
  EXPECT_EQ(chosen({}, {{.gpus = 4}}), std::nullopt) << "four ranks have no GPU anywhere";
}

TEST(PodSizes, AreSaidWithWhatMakesThemSmallerThanTheNodesGpus) {
  const auto size = chosen({.cores = 12}, {{}, {}});
  ASSERT_TRUE(size);
  EXPECT_EQ(size->ranks, 4);
  EXPECT_THAT(size->reason,
              HasSubstr("8 ranks in 2 pods of 4: node n1 has 8 nvidia.com/gpu; even if all nodes were "
                        "empty there would be no room for 1 server of 8 ranks (96 cpu"));
}

TEST(PodSizes, DontDependOnWhoIsThereNow) {
  EXPECT_EQ(chosen({}, {{.stranger_cores = 60}})->ranks, 8) << "somebody's pod goes again";
  EXPECT_EQ(chosen({.cores = 8}, {{.daemon_cores = 1}, {}, {}})->ranks, 8);
  EXPECT_EQ(chosen({.cores = 8}, {{.daemon_cores = 1}, {.daemon_cores = 1}})->ranks, 4)
      << "a daemon set's stays as long as its node";
}

TEST(PodSizes, AreLeftOpenByJobsOnSeveralGpusThatSayNothing) {
  const std::string on_gpus = "resources={nvidia.com/gpu: 1}", ranks = "placement.ranks=4";
  EXPECT_TRUE(leaves_pod_size_open(job({ranks, on_gpus}), kGpuResource));
  EXPECT_FALSE(leaves_pod_size_open(job({ranks}), kGpuResource)) << "processors know no NVLink";
  EXPECT_FALSE(leaves_pod_size_open(job({on_gpus}), kGpuResource)) << "one rank";
  EXPECT_FALSE(leaves_pod_size_open(job({ranks, on_gpus, "placement.ranksPerServer=1"}), kGpuResource));
  EXPECT_FALSE(leaves_pod_size_open(job({ranks, on_gpus}), "nvidia.com/mig-3g.40gb"));
}

TEST(PodSizes, AreLeftOpenByStrategiesToWhichServersMeanNothing) {
  const auto is_open = [](const std::string& kind, const std::vector<std::string>& more) {
    std::vector<std::string> all{"placement.ranks=4", "resources={nvidia.com/gpu: 1}",
                                 "strategy.kind=" + kind};
    all.insert(all.end(), more.begin(), more.end());
    return leaves_pod_size_open(job(all), kGpuResource);
  };
  for (const char* kind : {"graph", "pipegcn", "bns", "cagnet", "sancus", "minibatch", "dgs", "auto"})
    EXPECT_TRUE(is_open(kind, {})) << kind;
  EXPECT_FALSE(is_open("gnnpipe", {"model.layers=4", "strategy.gnnpipe={stages: 4}"})) << "a stage each";
  EXPECT_FALSE(is_open("gnnpipe", {"model.layers=4", "strategy.gnnpipe={stages: 2}"})) << "two ranks a stage";
  EXPECT_FALSE(is_open("granndis", {})) << "a server's copies";
  EXPECT_FALSE(is_open("p3", {})) << "a server's columns";
}

TEST(PodSizes, AreTheDivisorsOfTheRanks) {
  EXPECT_THAT(pod_sizes(12), ElementsAre(12, 6, 4, 3, 2, 1));
  EXPECT_THAT(pod_sizes(7), ElementsAre(7, 1));
  EXPECT_THAT(pod_sizes(1), ElementsAre(1));
}

/// Each node gets pods of `size` for so many ranks.
std::string split_text(const std::vector<int>& ranks_of_nodes, int size) {
  const int ranks = std::accumulate(ranks_of_nodes.begin(), ranks_of_nodes.end(), 0);
  const Job of = job({"placement.ranks=" + std::to_string(ranks), "resources={nvidia.com/gpu: 1}",
                      "placement.ranksPerServer=" + std::to_string(size)});
  GangPlan plan;
  for (std::size_t n = 0; n < ranks_of_nodes.size(); ++n)
    plan.nodes.insert(plan.nodes.end(), std::size_t(ranks_of_nodes[n] / size), "n" + std::to_string(n + 1));
  return text_of_split_node(of, gang_of(of, std::vector<PairBytes>{}), plan, kGpuResource);
}

/// Who follows the advice gets pods that the same nodes can hold.
TEST(PodSizes, AreAdvisedWhereTheSameNodesCouldHoldLargerOnes) {
  EXPECT_THAT(split_text({4}, 1), HasSubstr("n1 has several of the pods"));
  EXPECT_THAT(split_text({4}, 1), HasSubstr("placement.ranksPerServer: 4 puts"));
  EXPECT_THAT(split_text({8, 8}, 2), HasSubstr("placement.ranksPerServer: 8 puts"));
  EXPECT_THAT(split_text({8, 4}, 1), HasSubstr("placement.ranksPerServer: 4 puts"));
  EXPECT_THAT(split_text({8, 4}, 4), HasSubstr("12 ranks can't be divided among larger pods on these nodes"))
      << "two pods of six have no room on eight and four GPUs";
  EXPECT_THAT(split_text({5, 3}, 1), HasSubstr("8 ranks can't be divided among larger pods on these nodes"));
  EXPECT_EQ(split_text({4, 4}, 4), "");
}

}  // namespace
}  // namespace atl::ctl
