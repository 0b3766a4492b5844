// What each node has left, kept by news: after any number of random events it is what one would count from
// nothing; and what doesn't change is never counted again.
#include "operator/run/room_table.h"

#include <gmock/gmock.h>

#include "operator/plan/room.h"
#include "operator_run/random_cluster.h"

namespace atl::ctl {
namespace {

/// One line a node that may be used.
std::vector<std::string> text(const Room& room) {
  std::vector<std::string> lines;
  for (const NodeRoom& node : room.usable()) {
    std::string line = node.node->name;
    for (const Resources* left : {&node.free, &node.cleared, &node.empty})
      for (const char* resource : {"cpu", "memory", "pods", "nvidia.com/gpu"})
        line += " " + std::to_string(left->of(resource));
    lines.push_back(std::move(line));
  }
  return lines;
}

TEST(RoomTable, IsWhatOneCountsFromNothingAfterManyRandomEvents) {
  RandomCluster cluster(7);
  for (int event = 1; event <= 10'000; ++event) {
    cluster.happen();
    if (event % 10 != 0) continue;
    Gang gang;
    gang.job = event % 20 ? cluster.any_job() : "";
    const Snapshot counted = cluster.counted();
    const Snapshot& kept = cluster.caches().room().snapshot(gang.job);
    ASSERT_EQ(text(Room(gang, kept)), text(Room(gang, counted))) << "after event " << event;
  }
}

TEST(RoomTable, OfAnUnchangedClusterIsNotCountedAgain) {
  RandomCluster cluster(1);
  for (int event = 0; event < 500; ++event) cluster.happen();
  RoomTable& room = cluster.caches().room();
  const Snapshot& first = room.snapshot("");
  const NodeLeft* where = first.left.data();
  const void* amounts = &*first.left.at(0).free.amounts().begin();
  const auto generation = room.generation();
  const Snapshot& second = room.snapshot("");
  EXPECT_EQ(second.left.data(), where);
  EXPECT_EQ(&*second.left.at(0).free.amounts().begin(), amounts);
  EXPECT_EQ(room.generation(), generation);
}

}  // namespace
}  // namespace atl::ctl
