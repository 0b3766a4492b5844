// Nodes that are asked for where something is in the way: a disk of one zone, a kubelet that rejects, a name that
// is taken, a job that fails meanwhile.
#include <gmock/gmock.h>

#include "operator_controller/small_world.h"

namespace atl::ctl {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct ScaleUpFaults : testing::Test {
  SmallWorld world;
};

TEST_F(ScaleUpFaults, TheNodeOfServerZeroIsAskedForWhereItsOutputIs) {
  world.bind_output_to("a");
  world.autoscaler.is_silent = true;
  world.atoll.submit(six_servers());
  world.until_asked();
  EXPECT_THAT(world.cluster.pods.at("cora-room-0").at("spec").dump(),
              HasSubstr(R"({"key":"zone","operator":"In","values":["a"]})"));
  EXPECT_THAT(world.cluster.pods.at("cora-room-1").at("spec").dump(), Not(HasSubstr("zone")))
      << "others may be anywhere";
}

}  // namespace
}  // namespace atl::ctl
