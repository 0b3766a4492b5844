#include "launch/mpirun_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <fstream>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

/// The folder of a launcher that is killed with files in it.
fs::path left_behind() {
  int ends[2];
  EXPECT_EQ(pipe(ends), 0);
  const pid_t launcher = fork();
  if (launcher == 0) {
    const Scratch scratch;
    std::ofstream(scratch.path() / "segment") << "shared";
    const std::string name = scratch.path().string();
    if (write(ends[1], name.data(), name.size()) > 0) raise(SIGKILL);
  }
  char name[256] = {};
  EXPECT_GT(read(ends[0], name, sizeof name - 1), 0);
  close(ends[0]), close(ends[1]);
  waitpid(launcher, nullptr, 0);
  return name;
}

TEST(Scratch, IsGoneAtTheEnd) {
  fs::path path;
  {
    const Scratch scratch;
    path = scratch.path();
    EXPECT_TRUE(fs::is_directory(path));
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(Scratch, WhatAKilledLauncherLeftTheNextOneRemovesAndOfNobodyElse) {
  const fs::path dead = left_behind();
  EXPECT_TRUE(fs::exists(dead / "segment"));
  const fs::path strangers = dead.parent_path() / ("atoll-of-somebody-" + std::to_string(getpid()));
  fs::create_directory(strangers);
  const Scratch living;
  EXPECT_FALSE(fs::exists(dead));
  { const Scratch next; }
  EXPECT_TRUE(fs::exists(living.path()));
  EXPECT_TRUE(fs::remove(strangers));
}

TEST(Scratch, TakesTheFirstPlaceThatTakesAFolder) {
  const fs::path place = testing::TempDir();
  const Scratch scratch({"/proc", "/nowhere", place});
  EXPECT_EQ(scratch.path().parent_path() / "", place / "");
}

TEST(Scratch, SaysWhatEachPlaceLacks) {
  try {
    const Scratch scratch(std::vector<fs::path>{"/proc", "/nowhere"});
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(),
                testing::ContainsRegex("/proc: no folder can be made in it: .*; /nowhere: .*TMPDIR"));
  }
}

}  // namespace
}  // namespace atl
