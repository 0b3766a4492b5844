// A rank that is lost while ranks train on their own GPUs: the others name it, in the same words as with any
// transport.
#include <gmock/gmock.h>

#include "gpu_training.h"

namespace atl::test {
namespace {

using namespace std::chrono_literals;

/// What each rank ends with where rank 1 goes silent before the step `lost`: it neither leaves nor says
/// anything.
std::vector<std::string> failures_without(std::int64_t lost, const std::filesystem::path& dataset,
                                          std::vector<std::unique_ptr<Transport>> transports, Device device) {
  const Job job = small_job({"placement.ranks=2"});
  return failures_of_ranks(std::move(transports), {.timeout = 700ms}, [&](Communicator& comm) {
    const OpenDevice gpu = device == Device::kCuda ? backend().open(comm.rank()) : OpenDevice();
    SmallRank rank(comm, job, dataset, 1, {}, device, gpu.stream ? *gpu.stream : host_stream());
    for (std::int64_t step = 1; step <= 4; ++step) {
      if (comm.rank() == 1 && step == lost) std::this_thread::sleep_for(2500ms);
      rank.trainer->train_step(step, 0.01);
    }
  });
}

class LostPeerOfGpus : public OnEmulatedGpus, public testing::WithParamInterface<std::int64_t> {};

TEST_P(LostPeerOfGpus, IsNamedInTheSameWords) {
  write_small_data(folder_ / "small", {});
  const std::vector<std::string> hosts{"a", "b"};
  const std::string words =
      "halo exchange: no message for 0.7 s from or to rank 1 on b; check that it still runs and that its link is "
      "up";
  const auto on_gpus =
      failures_without(GetParam(), folder_ / "small", linked_group(2, 2, {}, nullptr, hosts), Device::kCuda);
  EXPECT_EQ(on_gpus[0], words);
  const auto on_host =
      failures_without(GetParam(), folder_ / "small", make_local_group(2, hosts), Device::kCpu);
  EXPECT_EQ(on_host[0], words);
}
INSTANTIATE_TEST_SUITE_P(Steps, LostPeerOfGpus, testing::Values(1, 3));

}  // namespace
}  // namespace atl::test
