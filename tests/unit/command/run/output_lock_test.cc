#include "command/run/output_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <fstream>

#include "base/error.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::vector<std::string>& said() {
  static std::vector<std::string> lines;
  return lines;
}
void keep(const std::string& line) {
  said().push_back(line);
}

class OutputLocks : public testing::Test {
 protected:
  OutputLocks() { said().clear(); }

  std::string refusal() {
    try {
      const OutputLock lock(output_, keep);
      return "";
    } catch (const Error& error) {
      return error.what();
    }
  }
  std::string host() {
    std::array<char, 256> name{};
    gethostname(name.data(), name.size() - 1);
    return name.data();
  }

  TemporaryFolder folder_;
  const fs::path output_ = fs::path(folder_ / "runs") / "small";
};

TEST_F(OutputLocks, ASecondOneNamesTheFirst) {
  const OutputLock first(output_, keep);
  EXPECT_THAT(refusal(), HasSubstr(fmt::format("process {} on {}, since 20", getpid(), host())));
  EXPECT_THAT(refusal(), HasSubstr("--output"));
  EXPECT_TRUE(fs::exists(output_ / "lock")) << "a refusal takes nothing from the first";
  EXPECT_NE(refusal(), "");
}

TEST_F(OutputLocks, IsGoneAtTheEndWithTheFoldersMadeForIt) {
  { const OutputLock lock(output_, keep); }
  EXPECT_FALSE(fs::exists(output_.parent_path()));
  fs::create_directories(output_.parent_path());
  {
    const OutputLock lock(output_, keep);
    write_text(output_ / "job.yaml", "");
  }
  EXPECT_TRUE(fs::exists(output_ / "job.yaml"));
  EXPECT_FALSE(fs::exists(output_ / "lock"));
  EXPECT_EQ(refusal(), "");
  EXPECT_THAT(said(), testing::IsEmpty());
}

TEST_F(OutputLocks, OneOfADeadProcessIsBrokenWithAWord) {
  fs::create_directories(output_);
  write_text(output_ / "lock", fmt::format("{} {} 2026-01-01T00:00:00Z an-earlier-boot\n", host(), getpid()));
  EXPECT_EQ(refusal(), "") << "its number is used again: by us";
  EXPECT_THAT(said(), testing::ElementsAre(HasSubstr(fmt::format("process {} on", getpid()))));
  write_text(output_ / "lock", "torn");
  EXPECT_EQ(refusal(), "");
}

TEST_F(OutputLocks, AnotherMachinesIsNamedAndStays) {
  fs::create_directories(output_);
  write_text(output_ / "lock", "n7 4711 2026-01-01T00:00:00Z another-boot\n");
  EXPECT_THAT(refusal(), HasSubstr("process 4711 on n7"));
  EXPECT_THAT(refusal(), HasSubstr("remove " + (output_ / "lock").string()));
}

TEST_F(OutputLocks, ALaterLockOfAFolderThatWasRemovedMeanwhileStays) {
  auto first = std::make_unique<OutputLock>(output_, keep);
  fs::remove_all(output_);
  const OutputLock second(output_, keep);
  first.reset();
  EXPECT_TRUE(fs::exists(output_ / "lock"));
}

TEST_F(OutputLocks, ADataSetIsNoOutputFolder) {
  fs::create_directories(output_);
  for (const char* name : {"meta.json", "offsets.npy"}) write_bytes(output_ / name, "{}");
  EXPECT_THAT(refusal(), testing::AllOf(HasSubstr("is a data set"), HasSubstr("with --output")));
  EXPECT_FALSE(fs::exists(output_ / "lock"));
}

TEST_F(OutputLocks, AFileInTheWayIsSaid) {
  fs::create_directories(output_ / "lock");
  EXPECT_THAT(refusal(), HasSubstr("lock: cannot be written: Is a directory"));
}

}  // namespace
}  // namespace atl
