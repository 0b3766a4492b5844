// The log lines of a pod about InfiniBand. Folders replace the kernel's, because there is no such hardware
// here.
#include "launch/supervisor.h"

#include <gmock/gmock.h>

#include <fstream>

#include "temporary_folder.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

struct Infiniband : testing::Test {
  const TemporaryFolder folder;
  const fs::path devices = folder.path() / "class", opened = folder.path() / "dev";
};

TEST_F(Infiniband, IsNotSpokenOfWhereTheNodeHasNone) {
  EXPECT_EQ(infiniband_text(devices, opened), "");
  fs::create_directories(devices);
  EXPECT_EQ(infiniband_text(devices, opened), "");
}

TEST_F(Infiniband, OfANodeWhoseDevicesThePodWasNotGivenIsTcp) {
  fs::create_directories(devices / "mlx5_1");
  fs::create_directories(devices / "mlx5_0");
  fs::create_directories(opened);
  std::ofstream(opened / "rdma_cm");  // for connections alone: no queue can be made by it
  EXPECT_THAT(infiniband_text(devices, opened), HasSubstr("has mlx5_0, mlx5_1, but"));
  EXPECT_THAT(infiniband_text(devices, opened), HasSubstr("NCCL uses TCP"));
}

TEST_F(Infiniband, ThatThePodWasGivenIsNamed) {
  fs::create_directories(devices / "mlx5_0");
  fs::create_directories(opened);
  std::ofstream(opened / "uverbs0");
  EXPECT_EQ(infiniband_text(devices, opened), "InfiniBand: this pod may use it; the node has mlx5_0");
}

}  // namespace
}  // namespace atl
