// A deleted node whose pods all run on: either its kubelet makes it again, or it is gone for good.
#include <gmock/gmock.h>

#include "operator_run/stage.h"

namespace atl::ctl {
namespace {

struct Trains : Stage {
  Trains() {
    cluster.training.seconds = 1000;
    submit("cora");
    run(100, [&] { return state() == "Running"; });
    lost = node_of(cluster.pods.at("cora-1-0"));
  }
  std::string lost;
};

TEST(MissingNodes, OneThatComesBackHasLostNothing) {
  Trains stage;
  stage.api.hidden_nodes = {stage.lost};
  stage.run(35);
  stage.api.hidden_nodes.clear();
  stage.run(60);
  EXPECT_TRUE(stage.status().restarts.empty()) << "its ranks run";
  EXPECT_EQ(stage.state(), "Running");
}

TEST(MissingNodes, OneThatDoesNotIsLost) {
  Trains stage;
  stage.api.hidden_nodes = {stage.lost};
  stage.run(38);
  EXPECT_TRUE(stage.status().restarts.empty());
  stage.run(6);
  ASSERT_EQ(stage.status().restarts.size(), 1U) << "nobody else tells";
  EXPECT_EQ(stage.status().restarts[0].reason, "NodeLost");
}

TEST(MissingNodes, AnOperatorThatHasJustStartedHasMissedNoneYet) {
  Trains stage;
  stage.api.hidden_nodes = {stage.lost};
  stage.run(30);
  stage.start();
  stage.run(30);
  EXPECT_TRUE(stage.status().restarts.empty());
  stage.run(20);
  EXPECT_EQ(stage.status().restarts.size(), 1U);
}

}  // namespace
}  // namespace atl::ctl
