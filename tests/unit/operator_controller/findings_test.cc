// Where the prepare step's findings are kept: in the job's status what its pod's termination message holds,
// and in a ConfigMap what only its log does.
#include <gmock/gmock.h>

#include <algorithm>

#include "operator_controller/world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;

/// Maps with what prepare steps found.
int maps_of_findings(const World& world) {
  return int(std::ranges::count_if(world.cluster.objects, [](const auto& each) {
    return each.first.first == Kind::kConfigMap && each.second.at("data").contains("prepared.json");
  }));
}

/// Whatever happens to the pod: the status has them.
TEST(Findings, ThatAMessageHoldsNeedNeitherLogNorMapAndOutliveThePod) {
  live([](World& world) {
    world.cluster.prepares_also = R"(,"strategy":"{kind: granndis}","strategyReason":"it sends least")";
    world.atoll.gets_logs = false;
    world.atoll.submit(sample_job_json({{"/spec/strategy", {{"kind", "auto"}}}}));
    world.until_training();
    EXPECT_EQ(maps_of_findings(world), 0);
    EXPECT_EQ(parse_json(world.atoll.status().findings),
              parse_json(world.cluster.findings_of("cora-prepare")));
    EXPECT_EQ(world.atoll.status().predicted.inter_server_bytes, 150) << "it was placed by what they say";
    world.cluster.pods.erase("cora-prepare");
    world.cluster.end_pod("cora-1-0", 1, "Error", "");
    world.run_to_end();
    expect_success(world);
    EXPECT_EQ(world.cluster.prepares, 1);
    EXPECT_EQ(world.atoll.status().findings, "") << "nobody needs them any more";
  });
}

TEST(Findings, ThatNoMessageHoldsAreInAMap) {
  live([](World& world) {
    world.cluster.are_findings_long = true;
    world.atoll.submit(sample_job_json());
    world.until_training();
    EXPECT_EQ(maps_of_findings(world), 1);
    EXPECT_EQ(world.atoll.status().findings, "");
    EXPECT_EQ(world.atoll.status().predicted.inter_server_bytes, 150);
    world.run_to_end();
    expect_success(world);
  });
}

/// A kubelet cuts what is long, and what containers say is checked.
TEST(Findings, AMessageThatIsNoneIsNotTakenForFindings) {
  for (const std::string& message :
       {std::string(R"({"preparedChecksum":"p","ranks":4,"flows":[[0,2,10)"), std::string("done"),
        R"({"ranks":4,"flows":[],"x":")" + std::string(5000, 'x') + "\"}"}) {
    World world;
    world.cluster.finds = [&](const std::string&) { return message; };
    world.atoll.gets_logs = false;
    world.atoll.submit(sample_job_json());
    world.atoll.run(60);
    EXPECT_EQ(world.atoll.status().findings, "");
    EXPECT_THAT(find_condition(world.atoll.status().conditions, kPlaced)->message,
                HasSubstr("the API server does not give its log"));
  }
}

/// As of another installation's, which is left as it is: the pod has them, and nothing is written in vain.
TEST(Findings, AResourceThatDoesNotKeepFindingsCostsNoWrites) {
  World world;
  world.atoll.add = [](Observed& seen) { seen.job.status.findings.clear(); };
  world.atoll.submit(sample_job_json());
  world.until_training();
  const int writes = world.atoll.writes;
  world.cluster.is_changed = true;
  world.atoll.run(3);
  EXPECT_EQ(world.atoll.writes, writes);
  world.run_to_end();
  expect_success(world);
}

/// Of a job that is changed while it is suspended.
TEST(Findings, OfOtherPartsAreForgotten) {
  World world;
  world.atoll.submit(sample_job_json());
  world.until_training();
  world.suspend(true);
  world.atoll.run(200, [&] { return world.atoll.state() == "Suspended"; });
  EXPECT_NE(world.atoll.status().findings, "");
  json& job = world.atoll.job();
  job["spec"]["placement"]["ranks"] = 2;
  job["metadata"]["generation"] = 2;
  for (auto& [name, node] : world.cluster.nodes) node.pulls_images = false;  // nothing is found anew
  world.suspend(false);
  world.atoll.run(10);
  EXPECT_EQ(world.atoll.status().findings, "");
}

}  // namespace
}  // namespace atl::ctl
