#include "launch/mpirun_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// With a PATH of its own.
class MpirunCommand : public testing::Test {
 protected:
  MpirunCommand() : path_(std::getenv("PATH")) {
    std::string pattern = testing::TempDir() + "/mpirunXXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("PATH", folder_.c_str(), 1);
    add("mpirun");
  }
  ~MpirunCommand() override {
    setenv("PATH", path_.c_str(), 1);
    fs::remove_all(folder_);
  }

  void add(const char* program) const {
    std::ofstream(folder_ / program) << "#!/bin/sh\n";
    fs::permissions(folder_ / program, fs::perms::owner_all);
  }

  std::vector<std::string> command(const RemoteHosts& hosts) const {
    return mpirun_command(2, hosts, {"/bin/rank"}, folder_);
  }

  std::string path_;
  fs::path folder_;
};

/// Of an MCA parameter; "": it isn't set.
std::string setting(const std::vector<std::string>& command, const std::string& name) {
  const auto found = std::ranges::find(command, name);
  return found == command.end() ? "" : *std::next(found);
}

TEST_F(MpirunCommand, RanksOfThisMachineNeedNeitherSchedulerNorShell) {
  const auto words = command({});
  EXPECT_EQ(setting(words, "plm"), "isolated");
  EXPECT_THAT(setting(words, "ras"), testing::StartsWith("^slurm,tm,lsf,gridengine"));
}

TEST_F(MpirunCommand, HostsAreReachedByTheirShellAlone) {
  add("ssh");
  const auto words = command({{"10.1.0.1", "10.1.0.2"}, "ssh -p 22"});
  EXPECT_EQ(setting(words, "plm"), "rsh");
  EXPECT_EQ(setting(words, "plm_rsh_agent"), "ssh -p 22");
  EXPECT_EQ(setting(words, "plm_rsh_disable_qrsh"), "1");
  EXPECT_THAT(setting(words, "ras"), testing::StartsWith("^slurm"));
}

TEST_F(MpirunCommand, WhatIsNotOnPathIsNamedWithWhoNeedsIt) {
  const auto message = [&](const RemoteHosts& hosts) -> std::string {
    try {
      command(hosts);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  const RemoteHosts hosts{{"10.1.0.1", "10.1.0.2"}, "ssh -p 22"};
  EXPECT_THAT(message(hosts), testing::StartsWith("ssh is not on PATH, and --hosts needs it"));
  fs::remove(folder_ / "mpirun");
  EXPECT_THAT(message({}), testing::StartsWith("mpirun is not on PATH, but several ranks need it"));
}

}  // namespace
}  // namespace atl
