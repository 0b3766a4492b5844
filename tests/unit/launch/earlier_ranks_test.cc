#include "launch/rank_guard.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace atl {
namespace {

/// A process that looks like a rank and does nothing.
class IdleRank {
 public:
  IdleRank(const char* run, const char* attempt) : pid_(fork()) {
    if (pid_ == 0) {
      // The shell keeps the words behind its script; "train" is to be the first of them all.
      execl("/bin/bash", "train-script", "train", "--attempt", attempt, "--run", run, nullptr);
      _exit(127);
    }
    while (!looks_like_one()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ~IdleRank() {
    kill(pid_, SIGKILL);
    if (!is_reaped_) waitpid(pid_, nullptr, 0);
  }
  IdleRank(const IdleRank&) = delete;
  IdleRank& operator=(const IdleRank&) = delete;

  bool was_killed() {
    int state = 0;
    is_reaped_ = waitpid(pid_, &state, WNOHANG) == pid_;
    return is_reaped_ && WIFSIGNALED(state);
  }

 private:
  bool looks_like_one() const {
    std::ifstream file("/proc/" + std::to_string(pid_) + "/cmdline", std::ios::binary);
    const std::string words{std::istreambuf_iterator<char>(file), {}};
    return words.find(std::string("train\0--attempt", 15)) != std::string::npos;
  }

  pid_t pid_;
  bool is_reaped_ = false;
};

class EarlierRanks : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "earlier-ranks-XXXXXX";
    ASSERT_NE(mkdtemp(folder_.data()), nullptr);
    before_ = std::filesystem::current_path();
    std::filesystem::current_path(folder_);
    std::ofstream("train")
        << "kill -STOP $$\n";  // what bash runs under that name: nothing that could outlive it
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
  std::filesystem::path before_;
};

TEST_F(EarlierRanks, OfTheSameRunAreEndedAndNoOthers) {
  IdleRank earlier("this", "1"), present("this", "2"), other("another", "1");
  end_earlier_ranks("this", 2);
  EXPECT_TRUE(earlier.was_killed());
  EXPECT_FALSE(present.was_killed());
  EXPECT_FALSE(other.was_killed());
}

/// A process of this program that listens, and has so much memory that it takes a while to end.
pid_t start_listener(int socket, std::size_t bytes) {
  int ready[2];
  EXPECT_EQ(pipe(ready), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    const std::vector<char> memory(bytes, 1);
    listen(socket, 1);
    EXPECT_EQ(write(ready[1], "!", 1), 1);
    for (;;) pause();
  }
  char told = 0;
  EXPECT_EQ(read(ready[0], &told, 1), 1);
  close(ready[0]);
  close(ready[1]);
  return pid;
}

int bound_socket(sockaddr_in address) {
  const int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int yes = 1;
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  if (bind(file, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return file;
  close(file);
  return -1;
}

std::string words(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/cmdline", std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(EndingRank, IsWaitedForUntilItsPortIsFree) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int held = bound_socket(address);
  ASSERT_GE(held, 0);
  socklen_t size = sizeof address;
  ASSERT_EQ(getsockname(held, reinterpret_cast<sockaddr*>(&address), &size), 0);
  const pid_t pid = start_listener(held, 512U << 20);
  close(held);
  kill(pid, SIGKILL);  // as the rank beside would
  while (!words(pid).empty()) std::this_thread::yield();
  end_earlier_ranks("this", 2);
  const int again = bound_socket(address);
  EXPECT_GE(again, 0) << "the port is still held";
  close(again);
  waitpid(pid, nullptr, 0);
}

}  // namespace
}  // namespace atl
