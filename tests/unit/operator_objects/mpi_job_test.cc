// The MPIJob of a job with launcher: mpijob, and the pods that mpi-operator makes from it.
#include "operator/objects/objects.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/plan/snapshot.h"
#include "operator_api/sample_job.h"
#include "operator_objects/restricted_profile.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const Settings kSettings{.image = "atoll/engine:1", .mpi_jobs = true};
using Servers = std::vector<std::vector<Rank>>;

json made(const Servers& servers = {{0, 1}, {2, 3}}, Changes changes = {}) {
  return parse_json(mpi_job(sample_job(changes), kSettings, 3, servers, Moment{}));
}

json pod_template(const json& mpi_job, const char* role) {
  return mpi_job.at("spec").at("mpiReplicaSpecs").at(role).at("template");
}

/// As mpi-operator or the Job controller completes it.
json made_pod(const char* role, const json& labels) {
  json pod = pod_template(made(), role);
  pod["metadata"]["name"] = "cora-3-some-pod";
  pod["metadata"]["uid"] = "pod-uid";
  pod["metadata"]["labels"].update(labels);
  pod["metadata"]["ownerReferences"] = json::array({{{"uid", "mpi-job-uid"}, {"controller", true}}});
  pod["status"] = {{"phase", "Pending"}};
  return pod;
}

TEST(MpiJobObject, IsTheJobsOwnAndTriesOnce) {
  const json object = made();
  EXPECT_EQ(object.at("apiVersion"), "kubeflow.org/v2beta1");
  EXPECT_EQ(object.at("kind"), "MPIJob");
  EXPECT_EQ(object.at("metadata").at("name"), "cora-3");
  EXPECT_EQ(object.at("metadata").at("labels").at(kJobLabel), "cora");
  EXPECT_EQ(object.at("metadata").at("ownerReferences").at(0).at("uid"), "job-uid");
  const json& spec = object.at("spec");
  EXPECT_EQ(spec.at("runPolicy").at("backoffLimit"), 0);
  EXPECT_EQ(spec.at("slotsPerWorker"), 2);
  EXPECT_EQ(spec.at("mpiReplicaSpecs").at("Worker").at("replicas"), 2);
  EXPECT_EQ(spec.at("mpiReplicaSpecs").at("Launcher").at("replicas"), 1);
  for (const char* role : {"Worker", "Launcher"})
    EXPECT_EQ(spec.at("mpiReplicaSpecs").at(role).at("restartPolicy"), "Never");
}

TEST(MpiJobObject, ItsPodsAreGatedOnesOfTheJobUnderTheRestrictedLevel) {
  for (const char* role : {"Worker", "Launcher"}) {
    const json pod = pod_template(made(), role);
    EXPECT_TRUE(is_gated(read_pod(pod.dump()))) << role;
    EXPECT_THAT(restricted_faults(pod), IsEmpty()) << role;
    EXPECT_EQ(pod.at("metadata").at("labels").at(kJobLabel), "cora") << "its network policy selects by it";
    EXPECT_EQ(pod.at("metadata").at("labels").at(kAttemptLabel), "3");
    EXPECT_FALSE(pod.at("spec").contains("restartPolicy")) << "mpi-operator warns of it";
    EXPECT_FALSE(pod.at("metadata").contains("name"));
  }
}

TEST(MpiJobObject, TheLauncherIsOurs) {
  const json ours = parse_json(launcher_pod(sample_job(), kSettings, 3));
  const json theirs = pod_template(made(), "Launcher");
  EXPECT_EQ(theirs.at("spec").at("containers"), ours.at("spec").at("containers"));
  EXPECT_EQ(theirs.at("spec").at("volumes"), ours.at("spec").at("volumes"));
  EXPECT_EQ(theirs.at("metadata").at("labels").at(kRoleLabel), kLauncherRole);
}

TEST(MpiJobObject, TrustsNoKeyOfMpiOperators) {
  const json object = made();
  EXPECT_THAT(object.at("spec").at("sshAuthMountPath"), Not(HasSubstr("/etc/atoll/keys")));
  const std::string launcher = pod_template(object, "Launcher").dump();
  EXPECT_THAT(launcher,
              AllOf(HasSubstr("-i /etc/atoll/keys/id_login"), HasSubstr("StrictHostKeyChecking=yes")));
  EXPECT_THAT(pod_template(object, "Worker").dump(), Not(HasSubstr("id_login")));
}

TEST(MpiJobObject, WorkersAreAlikeAndAsLargeAsTheLargestServer) {
  const json worker = pod_template(made({{0, 1, 2}, {3}}), "Worker");
  const json three = parse_json(worker_pod(sample_job(), kSettings, 0, {0, 1, 2}, 0));
  EXPECT_EQ(requests_of(worker.at("spec")), requests_of(three.at("spec")));
  EXPECT_EQ(made({{0, 1, 2}, {3}}).at("spec").at("slotsPerWorker"), 3);
  EXPECT_THAT(worker.dump(), HasSubstr("\"claimName\":\"results\""))
      << "which of them is rank 0's isn't known";
  EXPECT_THAT(worker.dump(), Not(HasSubstr("ATOLL_RANKS")));
  EXPECT_FALSE(worker.at("metadata").at("labels").contains(kServerLabel));
}

TEST(Adopted, AWorkerIsTheJobsWithItsServerAndRanks) {
  const PodView pod =
      adopted(read_pod(made_pod("Worker", {{"training.kubeflow.org/replica-index", "1"}}).dump()));
  EXPECT_EQ(pod.meta.owner_uid, "job-uid");
  EXPECT_EQ(pod.meta.label(kServerLabel), "1");
  EXPECT_EQ(pod.meta.annotation(kRanksAnnotation), "2,3");
}

TEST(Adopted, ALauncherIsTheJobs) {
  const PodView pod = adopted(read_pod(made_pod("Launcher", json::object()).dump()));
  EXPECT_EQ(pod.meta.owner_uid, "job-uid");
  EXPECT_EQ(pod.meta.label(kServerLabel), "");
}

TEST(Adopted, OthersStayAsTheyAre) {
  json pod = made_pod("Worker", {{"training.kubeflow.org/replica-index", "1"}});
  pod["metadata"]["annotations"] = {{"atoll.dev/servers", "0,1;2,3"}};
  const PodView view = adopted(read_pod(pod.dump()));
  EXPECT_EQ(view.meta.owner_uid, "mpi-job-uid");
  EXPECT_EQ(view.meta.label(kServerLabel), "");
}

TEST(MpiJobFailure, IsToldInMpiOperatorsWords) {
  const json running = parse_json(R"({"status": {"conditions": [{"type": "Running", "status": "True"}]}})");
  EXPECT_EQ(mpi_job_failure(running), "");
  EXPECT_EQ(mpi_job_failure(json::object()), "");
  const json failed = parse_json(R"({"status": {"conditions": [
      {"type": "Failed", "status": "True", "reason": "MPIJobEvicted", "message": "1/2 workers are evicted"}]}})");
  EXPECT_EQ(mpi_job_failure(failed), "MPIJobEvicted: 1/2 workers are evicted");
}

/// Of a job that the engine takes.
Job job_of(Changes changes = {}) {
  return sample_job(changes).job.value();
}

TEST(MpiJobFaults, NameWhatMpiOperatorWouldNotTake) {
  EXPECT_THAT(mpi_job_faults(job_of(), kSettings), IsEmpty());
  EXPECT_THAT(mpi_job_faults(job_of(), {}), ElementsAre(HasSubstr("mpiJobs.enabled")));
  for (const char* name : {"1cora", "cora.1"})
    EXPECT_THAT(mpi_job_faults(job_of({{"/metadata/name", name}}), kSettings),
                ElementsAre(AllOf(HasSubstr("metadata.name"), HasSubstr(name))));
  const std::string longest(63 - std::string("-999999-worker-3").size(), 'j');
  EXPECT_THAT(mpi_job_faults(job_of({{"/metadata/name", longest}}), kSettings), IsEmpty());
  const GnnJob wider = sample_job({{"/metadata/name", longest}, {"/spec/placement/ranks", 20}});
  EXPECT_THAT(mpi_job_faults(wider.job.value(), kSettings), ElementsAre(HasSubstr("at most 63")));
}

}  // namespace
}  // namespace atl::ctl
