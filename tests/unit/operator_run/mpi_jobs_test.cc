// MPIJobs in the operator's caches, and the pods that mpi-operator makes of them.
#include <gmock/gmock.h>

#include "base/json.h"
#include "operator/objects/names.h"
#include "operator/objects/objects.h"
#include "operator/run/caches.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::SizeIs;

constexpr const char *kPath = "/apis/kubeflow.org/v2beta1/namespaces/team/mpijobs",
                     *kJobs = "/apis/atoll.dev/v1alpha1/namespaces/team/gnnjobs";

struct Listener final : CacheListener {
  std::vector<std::string> changed;
  void job_changed(const std::string& job, const std::string&) override { changed.push_back(job); }
  void job_gone(const std::string&) override {}
  void room_changed() override {}
};

/// Null where nothing is listed there.
kube::Store* store_of(Caches& caches, const std::string& path) {
  for (const Feed& feed : caches.feeds())
    if (feed.path == path) return feed.store;
  return nullptr;
}

json sample_mpi_job() {
  const Settings settings{.image = "atoll/engine:1", .mpi_jobs = true};
  json object = parse_json(mpi_job(sample_job(), settings, 1, {{0, 1}, {2, 3}}, Moment{}));
  object["metadata"]["uid"] = "mpi-job-uid";
  object["metadata"]["resourceVersion"] = "1";
  return object;
}

TEST(MpiJobs, AreListedOnlyWhereTheyAreToBeExpected) {
  Listener listener;
  Caches without({.spaces = {"team"}}, listener), with({.spaces = {"team"}, .mpi_jobs = true}, listener);
  EXPECT_FALSE(store_of(without, kPath)) << "a list of a kind that isn't there never comes";
  EXPECT_TRUE(store_of(with, kPath));
}

TEST(MpiJobs, AreTheirJobsWithWhatMpiOperatorSaysOfThem) {
  Listener listener;
  Caches caches({.spaces = {"team"}, .mpi_jobs = true}, listener);
  store_of(caches, kJobs)->put(sample_job_json().dump());
  json object = sample_mpi_job();
  object["status"]["conditions"] = json::array(
      {{{"type", "Failed"}, {"status", "True"}, {"reason", "BackoffLimitExceeded"}, {"message", "m"}}});
  store_of(caches, kPath)->put(object.dump());
  EXPECT_THAT(listener.changed, ElementsAre("team/cora", "team/cora"));
  const auto found = caches.objects_of("team/cora");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]->kind, Kind::kMpiJob);
  EXPECT_EQ(found[0]->meta.owner_uid, "job-uid");
  EXPECT_EQ(found[0]->failure, "BackoffLimitExceeded: m");
}

TEST(MpiJobs, PodsOfTheirsAreTheJobs) {
  Listener listener;
  Caches caches({.spaces = {"team"}, .mpi_jobs = true}, listener);
  store_of(caches, kJobs)->put(sample_job_json().dump());
  json pod = sample_mpi_job().at("spec").at("mpiReplicaSpecs").at("Worker").at("template");
  pod["metadata"].update(
      {{"name", "cora-1-worker-1"}, {"namespace", "team"}, {"uid", "p"}, {"resourceVersion", "2"}});
  pod["metadata"]["labels"]["training.kubeflow.org/replica-index"] = "1";
  pod["metadata"]["ownerReferences"] = json::array({{{"uid", "mpi-job-uid"}, {"controller", true}}});
  store_of(caches, "/api/v1/namespaces/team/pods")->put(pod.dump());
  const auto found = caches.pods_of("team/cora");
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]->meta.owner_uid, "job-uid");
  EXPECT_EQ(found[0]->meta.label(kServerLabel), "1");
  EXPECT_EQ(found[0]->meta.annotation(kRanksAnnotation), "2,3");
}

}  // namespace
}  // namespace atl::ctl
