// The order of parts that the prepare step found reaches the ranks, in every attempt.
#include <gtest/gtest.h>

#include "operator/objects/objects.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

json parts_of_attempt(const Stage& stage, int attempt) {
  const auto& map = stage.cluster.objects.at({Kind::kConfigMap, attempt_map_name("cora", attempt)});
  return json::parse(map.at("data").at("attempt.json").get<std::string>()).value("parts", json());
}

TEST(Parts, GoFromThePrepareStepToEachAttempt) {
  Stage stage;
  stage.cluster.training.seconds = 1000;
  stage.submit("cora");
  const GnnJob job = read_gnn_job(stage.job().dump());
  const std::string prepared = R"({"preparedChecksum":"p","ranks":4,"parts":[0,2,1,3],"flows":[[0,1,100]]})";
  stage.cluster.create(Kind::kConfigMap, prepared_map_name("cora", job.made_of.prepared),
                       json::parse(prepared_config_map(job, prepared)));
  stage.run(100, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(parts_of_attempt(stage, 1), json({0, 2, 1, 3}));
  stage.cluster.pods.erase("cora-1-0");
  stage.run(200, [&] { return stage.state() == "Running" && stage.status().attempt == 2; });
  ASSERT_EQ(stage.status().attempt, 2);
  EXPECT_EQ(parts_of_attempt(stage, 2), json({0, 2, 1, 3}));
}

}  // namespace
}  // namespace atl::ctl
