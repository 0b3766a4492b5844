// Thousands of jobs with large specs, which any user may make: so much is kept of them, and no more.
#include <gmock/gmock.h>
#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <memory>
#include <string>

#include "operator/run/caches.h"
#include "operator/run/observe.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr int kMany = 400;                // jobs
constexpr std::size_t kLarge = 60 << 10,  // bytes of a spec
    kMostOfSpace = 16 << 20;              // of a namespace's specs

class NobodyHears final : public CacheListener {
 public:
  void job_changed(const std::string&, const std::string&) override {}
  void job_gone(const std::string&) override {}
  void room_changed() override {}
};

class JobCache : public testing::Test {
 protected:
  NobodyHears listener;
  Caches caches{{}, listener};

  kube::Store& store() {
    for (const Feed& feed : caches.feeds())
      if (feed.path.ends_with("/gnnjobs")) return *feed.store;
    ADD_FAILURE() << "no feed of jobs";
    std::abort();
  }
  json large(const std::string& name, const std::string& space = "team") {
    const json variable = {{"name", "LARGE"}, {"value", std::string(kLarge, 'x')}};
    const json engine = {{"name", "engine"}, {"env", json::array({variable})}};
    json job = sample_job_json({{"/metadata/name", name},
                                {"/metadata/namespace", space},
                                {"/metadata/uid", "uid of " + space + name}});
    job["metadata"]["resourceVersion"] = std::to_string(++versions_);
    job["spec"]["template"]["spec"]["containers"] = json::array({engine});
    return job;
  }
  static json with_condition(json job, const char* type, const char* status) {
    job["status"]["conditions"] = json::array({{{"type", type},
                                                {"status", status},
                                                {"reason", "Any"},
                                                {"message", ""},
                                                {"lastTransitionTime", "2026-03-01T12:00:00Z"}}});
    return job;
  }
  static std::string name_of(int job) { return "job-" + std::to_string(job); }
  std::shared_ptr<const GnnJob> job(const std::string& name) { return caches.job("team/" + name); }
  void fill() {
    for (int j = 0; j < kMany; ++j) store().put(large(name_of(j)).dump());
  }

 private:
  int versions_ = 0;
};

TEST_F(JobCache, OfANamespacesSpecsSoMuchIsKept) {
  fill();
  std::size_t kept = 0;
  for (int j = 0; j < kMany; ++j) {
    kept += job(name_of(j))->manifest.size();
    EXPECT_NE(bool(job(name_of(j))->job), job(name_of(j))->manifest.empty()) << name_of(j);
  }
  EXPECT_LE(kept, kMostOfSpace);
  EXPECT_GT(kept, kMostOfSpace - 2 * kLarge);
  EXPECT_THAT(job(name_of(0))->refusal, IsEmpty());
  EXPECT_THAT(job(name_of(kMany - 1))->refusal, HasSubstr("more than 16 MiB"));
  store().put(large("another", "others").dump());
  EXPECT_TRUE(caches.job("others/another")->job) << "others have room of their own";
}

/// Also where an operator starts and hears of them all at once.
TEST_F(JobCache, OneThatHasBegunIsNotRefused) {
  for (int j = 0; j < kMany; ++j) store().put(with_condition(large(name_of(j)), kCreated, "False").dump());
  for (int j = 0; j < kMany; ++j) ASSERT_TRUE(job(name_of(j))->job) << name_of(j);
}

TEST_F(JobCache, OneThatEndsOrGoesGivesRoomToAnother) {
  fill();
  store().put(with_condition(large(name_of(0)), kSucceeded, "True").dump());
  EXPECT_THAT(job(name_of(0))->manifest, IsEmpty());
  store().put(large("after").dump());
  EXPECT_TRUE(job("after")->job);
  store().remove(large(name_of(1)).dump());
  store().put(large("later").dump());
  EXPECT_TRUE(job("later")->job);
  store().put(large("too-late").dump());
  EXPECT_FALSE(job("too-late")->job);
}

/// A label was added before anything was done for it.
TEST_F(JobCache, OneThatChangesCountsOnce) {
  fill();
  int last = kMany - 1;
  while (last > 0 && !job(name_of(last))->job) --last;
  ASSERT_LT(last, kMany - 1) << "there is no room for another";
  store().put(large(name_of(last)).dump());
  EXPECT_TRUE(job(name_of(last))->job) << job(name_of(last))->refusal;
}

/// What it says isn't known yet, and waits for the operator's upgrade.
TEST_F(JobCache, OneOfALaterReleaseIsReadAgainAsSuch) {
  json later = sample_job_json({{"/spec/sparkle", true}, {"/spec/model/kind", "sparkling"}});
  store().put(later.dump());
  Observed seen;
  seen.job =
      *caches.job(later["metadata"].value("namespace", "") + "/" + later["metadata"].value("name", ""));
  ASSERT_FALSE(seen.job.job);
  const auto unknown = seen.job.unknown;
  ASSERT_THAT(unknown, testing::ElementsAre("sparkle"));
  ASSERT_TRUE(put_in(seen, {{Kind::kJob, seen.job.meta.name}, later.dump()}));
  EXPECT_EQ(seen.job.unknown, unknown);
}

/// As after a write that was in conflict.
TEST_F(JobCache, OneThatIsRefusedStaysSoWhereItIsReadAgain) {
  fill();
  const std::string name = name_of(kMany - 1);
  Observed seen;
  seen.job = *job(name);
  ASSERT_TRUE(put_in(seen, {{Kind::kJob, name}, large(name).dump()}));
  EXPECT_FALSE(seen.job.job);
  EXPECT_THAT(seen.job.refusal, HasSubstr("more than 16 MiB"));
}

TEST_F(JobCache, OfAnotherOperatorsNothingIsKept) {
  const auto before = mallinfo2().uordblks;
  for (int j = 0; j < kMany; ++j) {
    json others = large(name_of(j));
    others["metadata"]["labels"][kClassLabel] = "another";
    store().put(others.dump());
  }
  EXPECT_LE(mallinfo2().uordblks - before, std::size_t(kMany) * kLarge / 8);
  EXPECT_FALSE(job(name_of(0)));
  store().put(large("ours").dump());
  EXPECT_TRUE(job("ours")->job);
}

}  // namespace
}  // namespace atl::ctl
