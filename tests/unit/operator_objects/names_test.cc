// Pods' names are host names: none is too long for one, whatever the job's name.
#include "operator/objects/names.h"

#include <gmock/gmock.h>

#include "base/json.h"
#include "job/api_names.h"
#include "job/crd/crd.h"
#include "job/yaml.h"
#include "operator_api/sample_job.h"

namespace atl::ctl {
namespace {

using nlohmann::json;

constexpr int kMostServers = 4096;     // placement.ranks' maximum
constexpr int kLastAttempt = 999'999;  // as high as numbers are read from pods' labels

std::string long_name(int length) {
  return std::string(std::size_t(length), 'j');
}

TEST(Names, OfAllPodsAreNamesOfHosts) {
  const std::string job = long_name(kLongestJobName);
  for (const std::string& name :
       {prepare_name(job), worker_name(job, kMostServers - 1, kLastAttempt), launcher_name(job, kLastAttempt),
        room_name(job, kLauncherRole), room_name(job, std::to_string(kMostServers - 1))})
    EXPECT_LE(name.size(), std::size_t(kLongestHostName)) << name;
  EXPECT_EQ(launcher_name(job, kLastAttempt).size(), std::size_t(kLongestHostName))
      << "no shorter than need be";
}

TEST(Names, ThatAreLongerAreRefusedByTheEngineAndByTheApiServer) {
  EXPECT_TRUE(sample_job({{"/metadata/name", long_name(kLongestJobName)}}).job);
  const GnnJob refused = sample_job({{"/metadata/name", long_name(kLongestJobName + 1)}});
  EXPECT_FALSE(refused.job);
  EXPECT_THAT(refused.refusal, testing::HasSubstr("at most 47"));

  const json crd = parse_json(to_json(parse_yaml(custom_resource_definition(), "crd.yaml").at(0)));
  const auto name =
      json::json_pointer("/spec/versions/0/schema/openAPIV3Schema/properties/metadata/properties/name");
  EXPECT_EQ(crd.at(name).at("maxLength"), kLongestJobName);
}

}  // namespace
}  // namespace atl::ctl
