// The epoch that bytes count for: batches made during an evaluation belong to the next epoch, and an
// evaluation's own bytes to none.
#include "telemetry/rank_meter.h"

#include <gtest/gtest.h>

#include <array>

#include "comm/ranks.h"

namespace atl {
namespace {

/// To the other one of two ranks.
void send(Communicator& comm, Traffic purpose, Index bytes) {
  std::vector<std::byte> out(std::size_t(bytes), std::byte{1}), in(out.size());
  const Rank other = 1 - comm.rank();
  const std::array sends{Message{other, out.data(), bytes}}, receives{Message{other, in.data(), bytes}};
  comm.exchange(Lane::kSmall, purpose, sends, receives).wait();
}

TEST(RankMeter, BatchesMadeDuringAnEvaluationAreTheNextEpochs) {
  run_ranks(2, [](Communicator& comm) {
    RankMeter meter(comm);
    send(comm, Traffic::kFeatures, 1000);  // before the first epoch: of none
    Index sum = 0;
    for (int epoch = 1; epoch <= 2; ++epoch) {
      meter.begin_epoch();
      send(comm, Traffic::kFeatures, 10);
      send(comm, Traffic::kGradient, 5);
      meter.end_step();
      meter.end_sums();
      EXPECT_EQ(meter.bytes_sent(Link::kIntra), epoch == 1 ? 15 : 15 + 7) << "epoch " << epoch;
      send(comm, Traffic::kFeatures, 7);  // ahead of time
      send(comm, Traffic::kEvaluation, 100);
      for (const LinkTraffic& each : meter.end_epoch({}).traffic) sum += each.bytes;
    }
    EXPECT_EQ(sum, 15 + 15 + 7);
  });
}

}  // namespace
}  // namespace atl
