// The emulated NCCL itself: calls that would hang, or move the wrong bytes, end the program, and what the
// manual refuses is refused.
#include <gtest/gtest.h>
#include <nccl.h>

#include <thread>

#include "emulated.h"

namespace emulated {
namespace {

constexpr std::size_t kRoom = 64;

/// A rank with a GPU of its own, two pieces of its memory, and a place in a communicator. For a thread of its
/// own.
struct Member {
  Member(int of_rank, int ranks, const ncclUniqueId& id) : rank(of_rank) {
    cudaSetDevice(rank);
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (void** room : {&from, &to}) cudaMalloc(room, kRoom);
    cudaMemset(from, 'a' + rank, kRoom);
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    EXPECT_EQ(ncclCommInitRankConfig(&comm, ranks, id, rank, &config), ncclInProgress);
  }
  ~Member() {
    cudaStreamSynchronize(stream);
    ncclCommAbort(comm);
    cudaStreamDestroy(stream);
  }
  ncclResult_t settle() {
    ncclResult_t result = ncclInProgress;
    while (result == ncclInProgress) {
      EXPECT_EQ(ncclCommGetAsyncError(comm, &result), ncclSuccess);
      std::this_thread::yield();
    }
    return result;
  }
  void give(void (*say)(Member&)) {
    ncclGroupStart();
    say(*this);
    EXPECT_EQ(ncclGroupEnd(), ncclInProgress);
    EXPECT_EQ(settle(), ncclSuccess);
  }
  void send(int peer, std::size_t bytes) {
    EXPECT_EQ(ncclSend(from, bytes, ncclUint8, peer, comm, stream), ncclSuccess);
  }
  void receive(int peer, std::size_t bytes) {
    EXPECT_EQ(ncclRecv(to, bytes, ncclUint8, peer, comm, stream), ncclSuccess);
  }
  ncclResult_t sum(std::size_t count) {
    return ncclAllReduce(from, from, count, ncclFloat32, ncclSum, comm, stream);
  }
  char arrived() {
    char byte = 0;
    cudaStreamSynchronize(stream);
    cudaMemcpy(&byte, to, 1, cudaMemcpyDeviceToHost);
    return byte;
  }

  int rank;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  void *from = nullptr, *to = nullptr;
};

void run_members(int ranks, const std::function<void(Member&)>& main) {
  set_gpus(ranks);
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r)
    threads.emplace_back([&, r] {
      Member member(r, ranks, id);
      main(member);
    });
  for (std::thread& each : threads) each.join();
  set_gpus(1);
}

TEST(EmulatedNccl, CarriesMessagesInBothDirections) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    set_seed(seed);
    run_members(2, [](Member& m) {
      EXPECT_EQ(m.settle(), ncclSuccess);
      m.give([](Member& one) { one.send(1 - one.rank, 8), one.receive(1 - one.rank, 8); });
      EXPECT_EQ(m.arrived(), 'a' + 1 - m.rank);
    });
  }
}

TEST(EmulatedNccl, LaunchesAGroupOnlyWhenItIsAskedFor) {
  run_members(2, [](Member& m) {
    m.settle();
    cudaEvent_t over = nullptr;
    cudaEventCreateWithFlags(&over, cudaEventDisableTiming);
    ncclGroupStart();
    m.send(1 - m.rank, 8), m.receive(1 - m.rank, 8);
    ncclGroupEnd();
    cudaEventRecord(over, m.stream);
    EXPECT_EQ(cudaEventQuery(over), cudaSuccess) << "nothing is on the stream yet";
    m.settle();
    cudaEventDestroy(over);
  });
}

TEST(EmulatedNccl, RefusesWhatNcclRefuses) {
  run_members(2, [](Member& m) {
    ncclGroupStart();
    EXPECT_EQ(ncclSend(m.from, 8, ncclUint8, 1 - m.rank, m.comm, m.stream), ncclInvalidArgument) << "joins";
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(m.settle(), ncclSuccess);
    char host[8];
    EXPECT_EQ(ncclSend(m.from, 8, ncclUint8, 1 - m.rank, m.comm, m.stream), ncclInvalidUsage) << "no group";
    ncclGroupStart();
    EXPECT_EQ(ncclSend(host, 8, ncclUint8, 1 - m.rank, m.comm, m.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclSend(m.from, 8, ncclUint8, 2, m.comm, m.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    EXPECT_EQ(ncclCommDestroy(m.comm), ncclInvalidUsage) << "it wasn't finalized";
  });
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t comm = nullptr;
  ncclConfig_t blocks = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &blocks), ncclInvalidArgument);
}

TEST(EmulatedNccl, SumsWhereAllHaveComeToIt) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    set_seed(seed);
    run_members(3, [](Member& m) {
      m.settle();
      for (int time = 0; time < 2; ++time) {  // the second one may be given before the first is over
        const float mine = float(1 + m.rank);
        cudaMemcpy(m.from, &mine, sizeof mine, cudaMemcpyHostToDevice);
        m.give([](Member& one) { EXPECT_EQ(one.sum(1), ncclSuccess); });
        cudaStreamSynchronize(m.stream);
        float sum = 0;
        cudaMemcpy(&sum, m.from, sizeof sum, cudaMemcpyDeviceToHost);
        EXPECT_EQ(sum, 6);
      }
    });
  }
}

TEST(EmulatedNccl, RefusesSumsThatItDoesNotPlay) {
  run_members(2, [](Member& m) {
    m.settle();
    EXPECT_EQ(m.sum(2), ncclInvalidUsage) << "no group";
    ncclGroupStart();
    EXPECT_EQ(ncclAllReduce(m.from, m.to, 2, ncclFloat32, ncclSum, m.comm, m.stream), ncclInvalidArgument);
    EXPECT_EQ(ncclAllReduce(m.from, m.from, 2, ncclUint8, ncclSum, m.comm, m.stream), ncclInvalidArgument);
    EXPECT_EQ(m.sum(2), ncclSuccess);
    EXPECT_EQ(m.sum(2), ncclInvalidUsage) << "two at once";
    EXPECT_EQ(ncclSend(m.to, 8, ncclUint8, 1 - m.rank, m.comm, m.stream), ncclInvalidUsage);
    ncclGroupEnd();
  });
}

TEST(EmulatedNccl, RefusesTwoRanksOnOneGpu) {
  ncclUniqueId id;
  ncclGetUniqueId(&id);
  ncclComm_t comms[2];
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  for (int r = 0; r < 2; ++r) EXPECT_EQ(ncclCommInitRankConfig(&comms[r], 2, id, r, &config), ncclInProgress);
  ncclResult_t result = ncclInProgress;
  while (result == ncclInProgress) ncclCommGetAsyncError(comms[0], &result);
  EXPECT_EQ(result, ncclInvalidUsage);
  for (const ncclComm_t each : comms) ncclCommAbort(each);
}

TEST(EmulatedNcclDeathTest, ShowsASwappedGroup) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto swapped = [] {
    run_members(2, [](Member& m) {
      m.settle();
      for (const std::size_t bytes : m.rank == 0 ? std::array{8, 16} : std::array{16, 8}) {
        ncclGroupStart();
        m.send(1 - m.rank, bytes), m.receive(1 - m.rank, bytes);
        ncclGroupEnd();
        m.settle();
      }
    });
  };
  EXPECT_DEATH(swapped(), "a message's two sides differ in size");
}

TEST(EmulatedNcclDeathTest, ShowsASwappedSum) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto two_sums = [] {
    run_members(2, [](Member& m) {
      m.settle();
      for (int time = 0; time < 2; ++time)
        m.give(time == m.rank ? [](Member& one) { one.sum(2); } : [](Member& one) { one.sum(3); });
    });
  };
  EXPECT_DEATH(two_sums(), "ranks sum different numbers of values");
  const auto sum_and_message = [] {
    run_members(2, [](Member& m) {
      m.settle();
      for (int time = 0; time < 2; ++time)
        m.give(time == m.rank ? [](Member& one) { one.sum(2); }
                              : [](Member& one) { one.send(1 - one.rank, 8), one.receive(1 - one.rank, 8); });
    });
  };
  EXPECT_DEATH(sum_and_message(), "ranks wait for each other's groups for ever");
}

TEST(EmulatedNcclDeathTest, ShowsACircleOfGroups) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto circle = [] {
    run_members(3, [](Member& m) {  // each with its right neighbour first, and then with its left one
      m.settle();
      m.give([](Member& one) { one.send((one.rank + 1) % 3, 8); });
      m.give([](Member& one) { one.receive((one.rank + 2) % 3, 8); });
    });
  };
  EXPECT_DEATH(circle(), "ranks wait for each other's groups for ever");
}

}  // namespace
}  // namespace emulated
