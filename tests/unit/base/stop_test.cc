// Requests to stop, each sent to a process of its own.
#include "base/stop.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

#include "base/atomic_file.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::Eq;
using testing::ExitedWithCode;

class Stop : public testing::Test {
 protected:
  Stop() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

void wait_for_the_end() {
  for (int i = 0; i < 3000; ++i) usleep(10000);
  _exit(99);
}

/// As METIS does.
void trap(int signal) {
  std::signal(signal, [](int) { _exit(98); });
}

TEST_F(Stop, EndsAProgramWhateverLibraryTrapsTheSignal) {
  for (const int signal : {SIGINT, SIGQUIT, SIGTERM, SIGHUP})
    EXPECT_EXIT(
        {
          end_at_stops();
          trap(signal);
          kill(getpid(), signal);
          wait_for_the_end();
        },
        ExitedWithCode(kStoppedStatus), Eq("atoll: stopped\n"));
}

TEST_F(Stop, AHangUpThatIsIgnoredIsNone) {
  EXPECT_EXIT(
      {
        std::signal(SIGHUP, SIG_IGN);
        end_at_stops();
        kill(getpid(), SIGHUP);
        usleep(300000);
        _exit(7);
      },
      ExitedWithCode(7), Eq(""));
}

TEST_F(Stop, RemovesWhatWouldBeLeftAndNothingElse) {
  EXPECT_EXIT(
      {
        end_at_stops();
        {
          const AtStop over([] { std::fputs("over ", stderr); });
        }
        const AtStop first([] { std::fputs("first ", stderr); });
        const AtStop second([] { std::fputs("second ", stderr); });
        kill(getpid(), SIGTERM);
        wait_for_the_end();
      },
      ExitedWithCode(kStoppedStatus), Eq("second first atoll: stopped\n"));
}

TEST_F(Stop, NobodyComesPastWhatIsBeingRemoved) {
  EXPECT_EXIT(
      {
        end_at_stops();
        auto slow = std::make_unique<AtStop>([] { usleep(300000); });
        kill(getpid(), SIGTERM);
        usleep(100000);
        slow.reset();
        _exit(1);  // as where a file that is written to was removed meanwhile
      },
      ExitedWithCode(kStoppedStatus), Eq("atoll: stopped\n"));
}

TEST_F(Stop, BelongsToWhoeverHasTakenStops) {
  EXPECT_EXIT(
      {
        end_at_stops();
        kill(getpid(), 0);
        const StopsTaken taken;
        const sigset_t all = stop_signals();
        const int file = signalfd(-1, &all, SFD_CLOEXEC);
        kill(getpid(), SIGTERM);
        signalfd_siginfo info{};
        _exit(read(file, &info, sizeof info) == sizeof info && info.ssi_signo == SIGTERM ? 7 : 1);
      },
      ExitedWithCode(7), Eq(""));
}

TEST_F(Stop, ThatIsNotReadByThenEndsTheProgramAfterwards) {
  EXPECT_EXIT(
      {
        end_at_stops();
        {
          const StopsTaken taken;
          kill(getpid(), SIGTERM);
          usleep(200000);
        }
        wait_for_the_end();
      },
      ExitedWithCode(kStoppedStatus), Eq("atoll: stopped\n"));
}

TEST_F(Stop, LeavesNothingOfWhatIsHalfWritten) {
  std::string pattern = testing::TempDir() + "/stopXXXXXX";
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  const fs::path place = pattern;
  EXPECT_EXIT(
      {
        end_at_stops();
        AtomicFile file(place / "file");
        AtomicFolder folder(place / "folder");
        write_file_atomically(folder.path() / "in it", "1");
        kill(getpid(), SIGTERM);
        wait_for_the_end();
      },
      ExitedWithCode(kStoppedStatus), Eq("atoll: stopped\n"));
  EXPECT_TRUE(fs::is_empty(place));
  fs::remove_all(place);
}

/// Writes one after the other, each of some files, from several threads.
[[noreturn]] void write_folders(const fs::path& place) {
  for (int n = 0;; ++n) {
    AtomicFolder folder(place / "folder", AtomicFolder::Existing::kReplace);
    std::vector<std::thread> writers;
    for (int w = 0; w < 3; ++w)
      writers.emplace_back([&, w] {
        for (int i = 0; i < 8; ++i)
          if (std::FILE* file = std::fopen((folder.path() / std::to_string(8 * w + i)).c_str(), "w"))
            std::fputs("1", file), std::fclose(file);
      });
    for (std::thread& each : writers) each.join();
    write_file_atomically(folder.path() / "whole", "1");
    folder.commit();
    write_file_atomically(place / "file", std::to_string(n));
  }
}

/// What is there is whole, and nothing else is there.
void expect_whole(const fs::path& place) {
  for (const auto& entry : fs::directory_iterator(place)) {
    const std::string name = entry.path().filename();
    EXPECT_TRUE(name == "folder" || name == "file") << name;
    if (name == "folder") {
      EXPECT_EQ(std::distance(fs::directory_iterator(entry), fs::directory_iterator()), 25);
    }
  }
}

TEST_F(Stop, LeavesWhatIsWholeAloneAtAnyMoment) {
  constexpr int kMoments = 60;
  for (int moment = 0; moment < kMoments; ++moment) {
    std::string pattern = testing::TempDir() + "/stopXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    const fs::path place = pattern;
    const pid_t writer = fork();
    if (writer == 0) {
      ::close(STDERR_FILENO);
      end_at_stops();
      write_folders(place);
    }
    usleep(useconds_t(5000 + 700 * moment));
    kill(writer, SIGTERM);
    int status = 0;
    waitpid(writer, &status, 0);
    if (WIFEXITED(status)) expect_whole(place);  // else it came before the first instruction
    fs::remove_all(place);
  }
}

}  // namespace
}  // namespace atl
