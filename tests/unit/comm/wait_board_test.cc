// While a rank waits, others can see for whom; when it goes on, the entry is gone.
#include "comm/wait_board.h"

#include <gtest/gtest.h>

#include <atomic>

#include "comm/ranks.h"

namespace atl {
namespace {

using namespace std::chrono_literals;

/// Asks until `wanted` says yes, ten seconds at most.
bool eventually(const std::function<bool()>& wanted) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!wanted()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(10ms);
  }
  return true;
}

TEST(WaitBoard, TellsForWhomARankWaitsAndForgetsIt) {
  auto group = make_local_group(3, {});
  WaitBoard boards[3];
  std::atomic<bool> go_on{false};
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Communicator comm(std::move(group[std::size_t(rank)]), {60s, &boards[rank]});
      comm.barrier();
      while (rank == 1 && !go_on) std::this_thread::sleep_for(5ms);  // busy elsewhere
      std::int64_t one = 1;
      comm.all_reduce(Traffic::kStatistics, std::span(&one, 1));
      EXPECT_EQ(one, 3);
      EXPECT_TRUE(boards[rank].read().peers.empty());
      comm.barrier();
    });
  for (const Rank waiting : {0, 2}) {
    EXPECT_TRUE(eventually([&] { return boards[waiting].read().peers == std::vector<Rank>{1}; }));
    EXPECT_GE(boards[waiting].read().seconds, 1);
  }
  EXPECT_TRUE(boards[1].read().peers.empty()) << "it waits for nobody";
  go_on = true;
  for (auto& thread : threads) thread.join();
}

TEST(WaitBoard, NoticesWaitsThatAreLongerThanAllBefore) {
  std::vector<std::string> heard;
  WaitBoard board([&](const std::string& news) { heard.push_back(news); });
  const auto waited = [&](std::chrono::seconds time) {
    board.enter({1}, WaitBoard::Clock::now() - time, "rank 1 on server1");
    board.clear();
    return heard.size();
  };
  EXPECT_EQ(waited(4s), 0U);
  EXPECT_EQ(waited(6s), 1U);
  EXPECT_EQ(heard.back(), "no message for 5 s from or to rank 1 on server1");
  EXPECT_EQ(waited(9s), 1U) << "another as long";
  EXPECT_EQ(waited(50s), 2U);
  EXPECT_EQ(waited(70s), 2U);
  EXPECT_EQ(waited(81s), 3U);
}

}  // namespace
}  // namespace atl
