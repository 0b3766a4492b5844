// What asks an autoscaler for nodes: pods that meet the restricted level, may be anywhere that a worker may,
// and take what a worker takes.
#include <gmock/gmock.h>

#include "operator/objects/names.h"
#include "operator/objects/settings.h"
#include "operator_objects/restricted_profile.h"
#include "operator_objects/sample_pods.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::IsEmpty;

Settings settings() {
  Settings all = kSettings;
  all.placeholder_image = "pause:1";
  all.placeholder_class = "low";
  return all;
}

WantedRoom room() {
  WantedRoom wanted{kWorkerRole, Resources({{"cpu", 3000}, {"memory", 1024}, {"pods", 1}})};
  wanted.requests.add("nvidia.com/gpu", 2.0);
  return wanted;
}

json pod_with(const WantedRoom& wanted, Changes changes = {}) {
  return parse_json(placeholder_pod(sample_job(changes), settings(), wanted, "cora-room-0"));
}

const json& terms_of(const json& pod) {
  return pod.at("spec")
      .at("affinity")
      .at("nodeAffinity")
      .at("requiredDuringSchedulingIgnoredDuringExecution")
      .at("nodeSelectorTerms");
}

TEST(Placeholders, MeetTheRestrictedLevelAndHoldNoToken) {
  const json pod = pod_with(room());
  EXPECT_THAT(restricted_faults(pod), IsEmpty());
  EXPECT_EQ(pod.at("spec").at("automountServiceAccountToken"), false);
  EXPECT_FALSE(pod.at("spec").contains("volumes"));
}

TEST(Placeholders, RequestWhatTheyHoldRoomFor) {
  const json resources = pod_with(room()).at("spec").at("containers").at(0).at("resources");
  const json expected = parse_json(R"({"cpu": "3000m", "memory": "1024", "nvidia.com/gpu": "2"})");
  EXPECT_EQ(resources.at("requests"), expected);
  EXPECT_EQ(resources.at("limits"), expected) << "a GPU is given by its limit";
}

TEST(Placeholders, GoAtOnceAndAfterEverybodyElse) {
  const json pod = pod_with(room());
  EXPECT_EQ(pod.at("spec").at("terminationGracePeriodSeconds"), 0);
  EXPECT_EQ(pod.at("spec").at("priorityClassName"), "low");
  EXPECT_FALSE(pod.at("spec").contains("schedulingGates"));
}

TEST(Placeholders, AreWhereVolumesAreAndNotWhereNodesFailed) {
  WantedRoom wanted = room();
  const LabelRule zone{"zone", "In", {"a"}, false}, other{"zone", "In", {"b"}, false};
  const std::vector<LabelRule> first{zone}, second{other};
  wanted.reach = {NodeTerms{first, second}};
  wanted.excluded = {"n7"};
  const json pod = pod_with(wanted);
  const json& terms = terms_of(pod);
  ASSERT_EQ(terms.size(), 2U) << "either zone";
  const json failed =
      parse_json(R"({"key": "kubernetes.io/hostname", "operator": "NotIn", "values": ["n7"]})");
  for (const json& term : terms) EXPECT_EQ(term.at("matchExpressions").back(), failed);
  EXPECT_EQ(terms.at(0).at("matchExpressions").at(0).at("values"), json::array({"a"}));
  EXPECT_EQ(terms.at(1).at("matchExpressions").at(0).at("values"), json::array({"b"}));
}

TEST(Placeholders, StayInOneDomainWhereTheGangMust) {
  WantedRoom wanted = room();
  wanted.together = "rack";
  const json affinity = pod_with(wanted).at("spec").at("affinity").at("podAffinity");
  const json& rule = affinity.at("requiredDuringSchedulingIgnoredDuringExecution").at(0);
  EXPECT_EQ(rule.at("topologyKey"), "rack");
  EXPECT_EQ(rule.at("labelSelector").at("matchLabels").at(kJobLabel), "cora");
  wanted.is_together_required = false;
  const json wished = pod_with(wanted).at("spec").at("affinity").at("podAffinity");
  EXPECT_FALSE(wished.contains("requiredDuringSchedulingIgnoredDuringExecution"));
}

TEST(Placeholders, ABufferIsOfSoManyPodsOfItsTemplate) {
  const GnnJob job = sample_job();
  const json buffer = parse_json(capacity_buffer(job, "cora-room-6-worker", 6));
  EXPECT_EQ(buffer.at("apiVersion"), "autoscaling.x-k8s.io/v1beta1");
  EXPECT_EQ(buffer.at("spec").at("podTemplateRef").at("name"), "cora-room-6-worker");
  EXPECT_EQ(buffer.at("spec").at("replicas"), 6);
  const json made = parse_json(room_template(job, settings(), room(), "cora-room-6-worker"));
  EXPECT_EQ(made.at("kind"), "PodTemplate");
  EXPECT_EQ(made.at("metadata").at("name"), "cora-room-6-worker");
  EXPECT_EQ(made.at("template").at("metadata").at("labels").at(kRoleLabel), kPlaceholderRole);
  EXPECT_FALSE(made.at("template").at("spec").contains("priorityClassName"))
      << "nothing is made of it that others have to be before";
}

/// One that can't be deleted is all that is left of a job which was suspended and changed, and has no image.
TEST(Placeholders, AreNoPodsWhoseImageAJobTakes) {
  const GnnJob job = sample_job();
  PodView left = read_pod(pod_with(room()).dump());
  ASSERT_EQ(left.meta.owner_uid, job.meta.uid);
  ASSERT_EQ(left.image, "pause:1");
  EXPECT_EQ(image_to_record(job, settings(), {left}), settings().image);
}

}  // namespace
}  // namespace atl::ctl
