// A folder's readers before, after and in the middle of a commit.
#include "base/atomic_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <vector>

#include "base/error.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = ::testing::TempDir() + "/atomicXXXXXX";
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  static std::string read(const fs::path& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder_)) found.push_back(entry.path().filename());
    return found;
  }

  fs::path folder_;
};

TEST_F(AtomicFileTest, AppearsWholeOnCommit) {
  AtomicFile file(folder_ / "deep" / "a");
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(fs::exists(folder_ / "deep" / "a"));
  file.commit();
  EXPECT_EQ(read(folder_ / "deep" / "a"), "one two");
}

TEST_F(AtomicFileTest, LeavesTheOldFileAndNoTraceWhenNotCommitted) {
  write_file_atomically(folder_ / "a", "old");
  try {
    AtomicFile file(folder_ / "a");
    file.write("new");
    throw std::runtime_error("in the middle");
  } catch (const std::runtime_error&) {
  }
  EXPECT_EQ(read(folder_ / "a"), "old");
  EXPECT_THAT(names(), ::testing::ElementsAre("a"));
}

TEST_F(AtomicFileTest, OneWriterAtATime) {
  AtomicFile first(folder_ / "a");
  EXPECT_THROW(AtomicFile second(folder_ / "a"), Error);
  first.write("first");
  first.commit();
  EXPECT_EQ(read(folder_ / "a"), "first");
}

TEST_F(AtomicFileTest, OverwritesWhatAKilledWriterLeft) {
  std::ofstream(folder_ / ".a.partial") << "a much longer half-written text";
  write_file_atomically(folder_ / "a", "whole");
  EXPECT_EQ(read(folder_ / "a"), "whole");
  EXPECT_THAT(names(), ::testing::ElementsAre("a"));
}

TEST_F(AtomicFileTest, SaysWhatIsInTheWay) {
  std::ofstream(folder_ / "file") << "x";
  try {
    AtomicFile below_a_file(folder_ / "file" / "a");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("a part of the path is a file"));
  }
  EXPECT_THROW(AtomicFile on_a_folder(folder_), Error);
}

/// `--to /dev/stdout`, or `--trace /dev/null`: root's rename replaced the device by a file, for everybody.
TEST_F(AtomicFileTest, TakesNoDevicesOrPipesPlace) {
  for (const char* device : {"/dev/null", "/dev/stdout"}) EXPECT_THROW(AtomicFile{device}, Error) << device;
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  try {
    write_file_atomically(pipe, "a file");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("is a device or a pipe"));
  }
  EXPECT_TRUE(fs::is_fifo(pipe));
  EXPECT_THAT(names(), ::testing::ElementsAre("pipe"));
  std::ofstream(folder_ / "file") << "x";
  fs::create_symlink("file", folder_ / "link");
  EXPECT_TRUE(may_become_a_file(folder_ / "link"));
  EXPECT_TRUE(may_become_a_file(folder_ / "absent"));
}

/// Standard output that leads to a file: /dev/stdout under another name was replaced by a file, too, and
/// --trace /dev/fd/1 was refused when the run was over.
TEST_F(AtomicFileTest, KnowsStandardOutputByItsOtherNames) {
  std::ofstream(folder_ / "log");
  fs::create_directory_symlink("/dev", folder_ / "devices");
  const int log = ::open((folder_ / "log").c_str(), O_WRONLY), before = ::dup(STDOUT_FILENO);
  ASSERT_GE(log, 0);
  std::fflush(stdout);
  ASSERT_EQ(::dup2(log, STDOUT_FILENO), STDOUT_FILENO);
  const fs::path names[] = {"/dev/stdout",           "/dev/./stdout", folder_ / "devices/stdout",
                            "/dev/../dev/stdout",    "/dev/fd/1",     "/proc/self/fd/1",
                            folder_ / "devices/fd/1"};
  std::vector<fs::path> allowed;
  for (const fs::path& each : names)
    if (may_become_a_file(each)) allowed.push_back(each);
  const bool is_file = may_become_a_file(folder_ / "log");
  std::fflush(stdout);
  ASSERT_EQ(::dup2(before, STDOUT_FILENO), STDOUT_FILENO);
  ::close(log), ::close(before);
  EXPECT_THAT(allowed, ::testing::IsEmpty());
  EXPECT_TRUE(is_file) << "by its own name";
}

TEST_F(AtomicFileTest, FolderAppearsWholeOnCommit) {
  AtomicFolder folder(folder_ / "set");
  std::ofstream(folder.path() / "x") << "1";
  EXPECT_FALSE(fs::exists(folder_ / "set"));
  folder.commit();
  EXPECT_EQ(read(folder_ / "set" / "x"), "1");
  EXPECT_THAT(names(), ::testing::ElementsAre("set"));
}

TEST_F(AtomicFileTest, FolderLeavesNothingWhenNotCommitted) {
  {
    AtomicFolder folder(folder_ / "set");
    std::ofstream(folder.path() / "x") << "1";
  }
  EXPECT_THAT(names(), ::testing::IsEmpty());
}

TEST_F(AtomicFileTest, FolderRefusesOrReplacesWhatExists) {
  fs::create_directory(folder_ / "set");
  std::ofstream(folder_ / "set" / "old") << "0";
  EXPECT_THROW(AtomicFolder refused(folder_ / "set"), Error);

  AtomicFolder folder(folder_ / "set", AtomicFolder::Existing::kReplace);
  std::ofstream(folder.path() / "new") << "1";
  folder.commit();
  EXPECT_FALSE(fs::exists(folder_ / "set" / "old"));
  EXPECT_EQ(read(folder_ / "set" / "new"), "1");
  EXPECT_THAT(names(), ::testing::ElementsAre("set"));
}

TEST_F(AtomicFileTest, FolderRemovesWhatAKilledWriterLeft) {
  fs::create_directory(folder_ / ".set.partial");
  std::ofstream(folder_ / ".set.partial" / "half") << "?";
  AtomicFolder folder(folder_ / "set");
  folder.commit();
  EXPECT_TRUE(fs::is_empty(folder_ / "set"));
}

/// What a file system says that can't exchange names.
template <int error>
int refuse(const char*, const char*) {
  errno = error;
  return -1;
}

class Replacing : public AtomicFileTest {
 protected:
  void write_set(const std::string& text, NameSwap swap = swap_names) {
    AtomicFolder folder(folder_ / "set", AtomicFolder::Existing::kReplace);
    std::ofstream(folder.path() / "x") << text;
    folder.commit(swap);
  }

  /// As a process leaves it that is killed between the two renames.
  void kill_between_renames() {
    write_set("old");
    fs::rename(folder_ / "set", folder_ / ".set.replaced");
    fs::create_directory(folder_ / ".set.partial");
    std::ofstream(folder_ / ".set.partial" / "x") << "new";
  }
};

/// NFS, 9p and FUSE: EINVAL; kernels before 3.15 and some gVisor's: ENOSYS, EOPNOTSUPP.
TEST_F(Replacing, NeedsNoExchangeOfNames) {
  write_set("old");
  int round = 0;
  for (const NameSwap swap : {refuse<EINVAL>, refuse<ENOSYS>, refuse<EOPNOTSUPP>}) {
    const std::string text = "new " + std::to_string(++round);
    write_set(text, swap);
    EXPECT_EQ(read(folder_ / "set" / "x"), text);
    EXPECT_THAT(names(), ::testing::ElementsAre("set"));
  }
}

/// After the exchange the old folder has the name in which writers begin, until it is removed.
TEST_F(Replacing, NobodyBeginsInTheOldOne) {
  static std::string second;
  write_set("old");
  write_set("new", [](const char* one, const char* other) {
    const int result = swap_names(one, other), error = errno;
    try {
      AtomicFolder begun(other, AtomicFolder::Existing::kReplace);
      second = "begins";
    } catch (const Error& refused) {
      second = refused.what();
    }
    errno = error;
    return result;
  });
  EXPECT_THAT(second, HasSubstr("another process is writing it"));
  EXPECT_EQ(read(folder_ / "set" / "x"), "new");
}

TEST_F(Replacing, AnythingElseIsAnErrorAndTheOldOneStays) {
  write_set("old");
  EXPECT_THROW(write_set("new", refuse<EIO>), Error);
  EXPECT_EQ(read(folder_ / "set" / "x"), "old");
  EXPECT_THAT(names(), ::testing::ElementsAre("set"));
}

TEST_F(Replacing, WhatAKilledProcessMovedAsideIsPutBackForReaders) {
  kill_between_renames();
  EXPECT_TRUE(exists_whole(folder_ / "set/"));
  EXPECT_EQ(read(folder_ / "set" / "x"), "old");
  write_set("newer");
  EXPECT_EQ(read(folder_ / "set" / "x"), "newer");
  EXPECT_THAT(names(), ::testing::ElementsAre("set"));
}

TEST_F(Replacing, WhatAKilledProcessMovedAsideIsPutBackForWriters) {
  kill_between_renames();
  EXPECT_THROW(AtomicFolder refused(folder_ / "set"), Error) << "there is one again";
  EXPECT_EQ(read(folder_ / "set" / "x"), "old");
}

/// Killed after the second rename.
TEST_F(Replacing, AnOldOneThatIsLeftOverGoes) {
  write_set("new");
  fs::create_directory(folder_ / ".set.replaced");
  EXPECT_TRUE(exists_whole(folder_ / "set"));
  write_set("newer");
  EXPECT_THAT(names(), ::testing::ElementsAre("set"));
}

TEST_F(Replacing, NothingIsPutBackWhileTheProcessLives) {
  write_set("old");
  AtomicFolder folder(folder_ / "set", AtomicFolder::Existing::kReplace);
  fs::rename(folder_ / "set", folder_ / ".set.replaced");
  EXPECT_FALSE(exists_whole(folder_ / "set"));
  fs::rename(folder_ / ".set.replaced", folder_ / "set");
}

}  // namespace
}  // namespace atl
