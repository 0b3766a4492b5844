// Jobs whose pods have IPv6 addresses.
#include <gtest/gtest.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

TEST(Ipv6, ProgressIsAskedForAtAnAddressInBrackets) {
  Stage stage;
  stage.cluster.network = "fd00:1::";
  stage.cluster.training.seconds = 1000;
  stage.submit("cora");
  stage.run(100, [&] { return stage.state() == "Running"; });
  const std::string ip = stage.cluster.pods.at("cora-0-0").at("status").at("podIP");
  ASSERT_TRUE(ip.starts_with("fd00:1::"));
  stage.pages["http://[" + ip + "]:9400"] = R"({"epoch": 7, "epochs": 200})";
  stage.run(10);
  EXPECT_EQ(stage.status().progress.epoch, 7);
}

}  // namespace
}  // namespace atl::ctl
