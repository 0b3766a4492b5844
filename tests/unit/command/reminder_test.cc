// Work that can't tell how far it is: the user hears how long it has taken, and nothing once it is over.
#include "command/job_data.h"

#include <gmock/gmock.h>

#include <mutex>
#include <vector>

namespace atl {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;

TEST(Reminder, SaysNowAndThenForHowLongWorkHasGoneOn) {
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<std::string> said;
  {
    const Reminder reminder(
        [&](const std::string& line) {
          const std::lock_guard lock(mutex);
          said.push_back(line);
          changed.notify_one();
        },
        "preparing", "less by cut", 20ms);
    std::unique_lock lock(mutex);
    ASSERT_TRUE(changed.wait_for(lock, 20s, [&] { return said.size() >= 2; }));
  }
  said.resize(2);
  EXPECT_THAT(said, ElementsAre("still preparing after 20.0 ms: less by cut",
                                "still preparing after 40.0 ms: less by cut"));
}

TEST(Reminder, IsSilentAboutWorkThatIsQuick) {
  bool spoke = false;
  const auto begin = std::chrono::steady_clock::now();
  {
    const Reminder reminder([&](const std::string&) { spoke = true; }, "preparing", "");
  }
  EXPECT_FALSE(spoke);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s) << "it doesn't wait for its next word";
}

}  // namespace
}  // namespace atl
