// What Kueue says of a Workload's nodes (status.admission.podSetAssignments[].topologyAssignment), in each of
// its forms. What they mean is written beside them by hand.
#include "operator/api/workload.h"

#include <gmock/gmock.h>

#include <string>

#include "base/json.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

/// A Workload whose workers got this assignment; `more`: of its status.
Workload with(const std::string& assignment, const std::string& more = "") {
  return read_workload(parse_json(R"({"spec": {"podSets": [{"name": "worker"}, {"name": "launcher"}]},
      "status": {"admission": {"podSetAssignments": [{"name": "worker", "flavors": {"cpu": "gpus"},
          "topologyAssignment": )" +
                                  assignment + R"(}, {"name": "launcher", "flavors": {"cpu": "gpus"}}]})" +
                                  more + "}}"));
}

AssignedNodes nodes_of(const Workload& workload) {
  const auto admitted = admitted_pods(workload, [](const auto&) { return std::optional<std::string>("{}"); });
  return admitted.worker_nodes.value_or(AssignedNodes{});
}

/// Slices of an assignment whose only level is the node.
AssignedNodes of_slices(const std::string& slices) {
  return nodes_of(with(R"({"levels": ["kubernetes.io/hostname"], "slices": [)" + slices + "]}"));
}

TEST(AssignedNodes, AreEachSlicesValuesForAllItsDomainsOrOneByOne) {
  const AssignedNodes one = of_slices(
      R"({"domainCount": 1, "valuesPerLevel": [{"universal": "n7"}], "podCounts": {"universal": 3}})");
  EXPECT_EQ(one.fault, "");
  EXPECT_THAT(one.slots, ElementsAre(Pair("n7", 3)));
  EXPECT_EQ(one.pods, 3);
  const AssignedNodes several = of_slices(
      R"({"domainCount": 3, "valuesPerLevel": [{"individual": {"roots": ["a", "b", "c"]}}],
          "podCounts": {"individual": [2, 1, 4]}})");
  EXPECT_THAT(several.slots, ElementsAre(Pair("a", 2), Pair("b", 1), Pair("c", 4)));
  EXPECT_EQ(several.pods, 7);
}

TEST(AssignedNodes, HaveACommonBeginningAndACommonEnd) {
  const AssignedNodes beginning = of_slices(
      R"({"domainCount": 2, "podCounts": {"universal": 1},
          "valuesPerLevel": [{"individual": {"prefix": "block-1-", "roots": ["n1", "n2"]}}]})");
  EXPECT_THAT(beginning.slots, ElementsAre(Pair("block-1-n1", 1), Pair("block-1-n2", 1)));
  const AssignedNodes end = of_slices(
      R"({"domainCount": 2, "podCounts": {"universal": 2},
          "valuesPerLevel": [{"individual": {"suffix": ".internal", "roots": ["n1", "n2"]}}]})");
  EXPECT_THAT(end.slots, ElementsAre(Pair("n1.internal", 2), Pair("n2.internal", 2)));
  const AssignedNodes both = of_slices(
      R"({"domainCount": 2, "podCounts": {"individual": [1, 5]},
          "valuesPerLevel": [{"individual": {"prefix": "a", "suffix": "ba", "roots": ["", "ba"]}}]})");
  EXPECT_THAT(both.slots, ElementsAre(Pair("aba", 1), Pair("ababa", 5))) << "an empty root is one";
}

TEST(AssignedNodes, AreTheUnionOfAllSlices) {
  const AssignedNodes all = of_slices(R"(
      {"domainCount": 2, "podCounts": {"universal": 1},
       "valuesPerLevel": [{"individual": {"prefix": "pool-a-", "roots": ["0", "1"]}}]},
      {"domainCount": 1, "podCounts": {"universal": 2}, "valuesPerLevel": [{"universal": "pool-b-0"}]})");
  EXPECT_THAT(all.slots, ElementsAre(Pair("pool-a-0", 1), Pair("pool-a-1", 1), Pair("pool-b-0", 2)));
  EXPECT_EQ(all.pods, 4);
}

/// The API's own example 2, with a level for the nodes.
TEST(AssignedNodes, AreTheLowestLevelOfSeveral) {
  const AssignedNodes nodes = nodes_of(with(R"({
      "levels": ["block", "rack", "kubernetes.io/hostname"], "slices": [{"domainCount": 2, "podCounts": {"individual": [4, 2]},
       "valuesPerLevel": [{"universal": "block-1"}, {"individual": {"prefix": "rack-", "roots": ["1", "2"]}},
                          {"individual": {"prefix": "n", "roots": ["1", "5"]}}]}]})"));
  EXPECT_EQ(nodes.fault, "");
  EXPECT_THAT(nodes.slots, ElementsAre(Pair("n1", 4), Pair("n5", 2)));
}

TEST(AssignedNodes, AreNoneWhereTheLowestLevelIsAbove) {
  const AssignedNodes nodes = nodes_of(with(R"({"levels": ["block", "rack"], "slices": [
      {"domainCount": 1, "podCounts": {"universal": 2},
       "valuesPerLevel": [{"universal": "b1"}, {"universal": "r1"}]}]})"));
  EXPECT_EQ(nodes.level, "rack");
  EXPECT_EQ(nodes.fault, "");
  EXPECT_THAT(nodes.slots, IsEmpty());
  EXPECT_EQ(only_nodes(nodes), nullptr) << "the pods may use any";
  EXPECT_THAT(nodes_of(with(R"({"levels": [], "slices": []})")).fault, HasSubstr("has no levels"));
}

TEST(AssignedNodes, ThatMakeNoSenseAreNotGuessed) {
  for (
      const char* slice : {
          R"({"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["a"]}}], "podCounts": {"universal": 1}})",
          R"({"domainCount": 2, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"individual": [1]}})",
          R"({"domainCount": 1, "valuesPerLevel": [{}], "podCounts": {"universal": 1}})",
          R"({"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {}})",
          R"({"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 0}})",
          R"({"domainCount": 1, "valuesPerLevel": [{"universal": ""}], "podCounts": {"universal": 1}})",
          R"({"domainCount": 1, "valuesPerLevel": [], "podCounts": {"universal": 1}})",
          R"({"domainCount": 0, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 1}})",
          R"({"domainCount": 2000000000, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 1}})",
          R"({"valuesPerLevel": [{"universal": "a"}], "podCounts": {"universal": 2147483647}})",
          R"(7)",
      })
    EXPECT_THAT(of_slices(slice).fault, HasSubstr("topologyAssignment can't be read")) << slice;
}

TEST(AssignedNodes, ThatKueueIsToReplaceAreNoRoom) {
  const AssignedNodes nodes = nodes_of(with(
      R"({"levels": ["kubernetes.io/hostname"], "slices": [{"domainCount": 2, "podCounts": {"individual": [2, 1]},
          "valuesPerLevel": [{"individual": {"roots": ["n1", "n2"]}}]}]})",
      R"(, "unhealthyNodes": [{"name": "n2"}, {"name": "n9"}])"));
  EXPECT_THAT(nodes.slots, ElementsAre(Pair("n1", 2)));
  EXPECT_THAT(nodes.lost, ElementsAre("n2"));
  EXPECT_EQ(nodes.pods, 3) << "for all of them";
}

TEST(AssignedNodes, ArentThereWhereKueueAssignedNone) {
  const auto any = [](const auto&) { return std::optional<std::string>("{}"); };
  const Workload placed = with(R"({"levels": ["kubernetes.io/hostname"], "slices": []})");
  EXPECT_TRUE(admitted_pods(placed, any).worker_nodes);
  EXPECT_FALSE(admitted_pods(placed, any).launcher_nodes);
}

TEST(TopologyRequest, IsReadFromTheWorkloadAndIsThatOfItsPods) {
  const auto annotation = [](const std::string& request) {
    json object = parse_json(R"({"spec": {"podSets": [{"name": "worker"}]}, "status": {"admission":
        {"podSetAssignments": [{"name": "worker", "flavors": {"cpu": "gpus"}, "topologyAssignment":
            {"levels": ["kubernetes.io/hostname"], "slices": []}}]}}})");
    if (!request.empty()) object["spec"]["podSets"].at(0)["topologyRequest"] = parse_json(request);
    const TopologyRequest asked = nodes_of(read_workload(object)).asked;
    return asked.annotation() + ": " + asked.value;
  };
  EXPECT_EQ(annotation(R"({"required": "rack"})"), "kueue.x-k8s.io/podset-required-topology: rack");
  EXPECT_EQ(annotation(R"({"preferred": "rack"})"), "kueue.x-k8s.io/podset-preferred-topology: rack");
  EXPECT_EQ(annotation(R"({"unconstrained": true})"), "kueue.x-k8s.io/podset-unconstrained-topology: true");
  EXPECT_EQ(annotation(""), "kueue.x-k8s.io/podset-unconstrained-topology: true") << "as Kueue implies it";
}

TEST(Queues, LeadToFlavorsOfAllResourceGroups) {
  EXPECT_EQ(cluster_queue_of(parse_json(R"({"spec": {"clusterQueue": "team"}})")), "team");
  EXPECT_EQ(cluster_queue_of(json()), "");
  EXPECT_THAT(flavors_of(parse_json(R"({"spec": {"resourceGroups": [
                  {"coveredResources": ["cpu"], "flavors": [{"name": "a"}, {"name": "b"}]},
                  {"coveredResources": ["nvidia.com/gpu"], "flavors": [{"name": "c"}]}]}})")),
              ElementsAre("a", "b", "c"));
  EXPECT_THAT(flavors_of(json()), IsEmpty());
}

TEST(Flavors, NameATopologyOrNone) {
  EXPECT_TRUE(has_topology(parse_json(R"({"spec": {"topologyName": "default"}})")));
  EXPECT_FALSE(has_topology(parse_json(R"({"spec": {"nodeLabels": {"pool": "gnn"}}})")));
}

}  // namespace
}  // namespace atl::ctl
