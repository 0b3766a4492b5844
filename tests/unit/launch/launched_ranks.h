// Shared by tests of launch(): scripts as ranks, under the real mpirun. launch() takes over a process's
// signals and children, so each test runs it in a process of its own.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>

#include "launch/launch.h"

namespace atl {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

inline double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

inline std::string text_of(const fs::path& file) {
  std::ifstream stream(file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

inline bool alive(pid_t pid) {
  const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
  return !stat.empty() && stat.substr(stat.rfind(')') + 2, 1) != "Z";
}

class Launch : public testing::Test {
 protected:
  Launch() {
    // Another prefix than launch()'s own, or a launch beside this one would take the folder for a leftover.
    std::string path = testing::TempDir() + "/atoll-ranks-XXXXXX";
    folder_ = mkdtemp(path.data());
  }
  ~Launch() override { fs::remove_all(folder_); }

  /// Starts launch() with `ranks` ranks. Each runs the script `body` with $RANK set, and writes down its pid
  /// after `first`.
  void start(int ranks, const std::string& body, const std::string& first = "",
             std::chrono::seconds start_patience = {}, std::chrono::seconds leave_patience = {}) {
    const fs::path script = folder_ / "rank";
    std::ofstream(script) << "#!/bin/bash\nRANK=${OMPI_COMM_WORLD_RANK:-0}\n"
                          << first << "\ncd " << folder_.string()
                          << "\necho $$ > rank$RANK.tmp; mv rank$RANK.tmp rank$RANK.pid\n"
                          << body << "\n";
    fs::permissions(script, fs::perms::owner_all);
    launcher_ = fork();
    if (launcher_ != 0) return;
    std::ofstream messages(folder_ / "messages");
    LaunchPlan plan;
    plan.ranks = ranks;
    plan.program = {script.string()};
    plan.message = [&](const std::string& line) { messages << line << std::endl; };
    plan.stopping = [&] { messages << "stopping" << std::endl; };
    plan.end_patience = std::chrono::seconds(2);
    plan.start_patience = start_patience;
    plan.leave_patience = leave_patience;
    const LaunchEnd end = launch(plan);
    if (end.hung) messages << "hung: rank " << end.lost->rank << std::endl;
    messages << "reason: " << end.reason << std::endl;
    _exit(end.status);
  }

  pid_t pid_of(int rank) {
    const fs::path file = folder_ / ("rank" + std::to_string(rank) + ".pid");
    for (int i = 0; i < 2000 && !fs::exists(file); ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return std::stoi(text_of(file));
  }

  pid_t parent_of(pid_t pid) {
    const std::string stat = text_of("/proc/" + std::to_string(pid) + "/stat");
    return std::stoi(stat.substr(stat.rfind(')') + 4));
  }

  /// The launcher's exit status.
  int wait() {
    int state = 0;
    waitpid(launcher_, &state, 0);
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
  }

  std::string messages() const { return text_of(folder_ / "messages"); }

  fs::path folder_;
  pid_t launcher_ = -1;
};

// Without $(…), because bash 5.2 loses a trap that comes while it parses one.
inline const char* const kSleep = "for i in {1..300}; do sleep 0.1; done";
inline const char* const kStoppable = "trap 'echo stopped >&2; exit 0' USR1";
inline const char* const kDeaf = "trap '' USR1";

}  // namespace atl
