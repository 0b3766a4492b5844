// The order of parts that the prepare step found, and the graph's checksum, reach the ranks in every attempt.
#include <gtest/gtest.h>

#include "operator/objects/objects.h"
#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

json told_of_attempt(const Stage& stage, int attempt, const char* field) {
  const auto& map = stage.cluster.objects.at({Kind::kConfigMap, attempt_map_name("cora", attempt)});
  return parse_json(map.at("data").at("attempt.json").get<std::string>()).value(field, json());
}

TEST(Parts, GoFromThePrepareStepToEachAttempt) {
  Stage stage;
  stage.cluster.training.seconds = 1000;
  stage.submit("cora");
  const GnnJob job = read_gnn_job(stage.job().dump());
  const std::string prepared = R"({"preparedChecksum":"p","ranks":4,"parts":[0,2,1,3],"flows":[[0,1,100]]})";
  stage.cluster.create(Kind::kConfigMap, prepared_map_name("cora", job.made_of.prepared),
                       parse_json(prepared_config_map(job, prepared)));
  stage.run(100, [&] { return stage.state() == "Running"; });
  EXPECT_EQ(told_of_attempt(stage, 1, "parts"), json({0, 2, 1, 3}));
  EXPECT_EQ(told_of_attempt(stage, 1, "prepared"), "p");
  stage.cluster.pods.erase("cora-1-0");
  stage.run(200, [&] { return stage.state() == "Running" && stage.status().attempt == 2; });
  ASSERT_EQ(stage.status().attempt, 2);
  EXPECT_EQ(told_of_attempt(stage, 2, "parts"), json({0, 2, 1, 3}));
  EXPECT_EQ(told_of_attempt(stage, 2, "prepared"), "p");
}

}  // namespace
}  // namespace atl::ctl
