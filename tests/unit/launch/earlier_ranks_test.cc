#include "launch/earlier_ranks.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

namespace atl {
namespace {

/// A process that looks like a rank and does nothing.
class Rank {
 public:
  Rank(const char* run, const char* attempt) : pid_(fork()) {
    if (pid_ == 0) {
      // The shell keeps the words behind its script; "train" is to be the first of them all.
      execl("/bin/bash", "train-script", "train", "--attempt", attempt, "--run", run, nullptr);
      _exit(127);
    }
    while (!looks_like_one()) std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  ~Rank() {
    kill(pid_, SIGKILL);
    if (!is_reaped_) waitpid(pid_, nullptr, 0);
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

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
    std::ofstream("train") << "sleep 100\n";  // what bash runs under that name
  }
  void TearDown() override {
    std::filesystem::current_path(before_);
    std::filesystem::remove_all(folder_);
  }
  std::string folder_;
  std::filesystem::path before_;
};

TEST_F(EarlierRanks, OfTheSameRunAreEndedAndNoOthers) {
  Rank earlier("this", "1"), present("this", "2"), other("another", "1");
  end_earlier_ranks("this", 2);
  EXPECT_TRUE(earlier.was_killed());
  EXPECT_FALSE(present.was_killed());
  EXPECT_FALSE(other.was_killed());
}

}  // namespace
}  // namespace atl
