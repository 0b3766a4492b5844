// A job's data set: files that exist already are checked before training.
#include "command/job_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "base/error.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

namespace fs = std::filesystem;

constexpr const char* kSynthetic =
    "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
    "  dataset: {synthetic: {kind: community, vertices: 200, averageDegree: 6, features: 4, classes: 2}}\n"
    "  model: {kind: gcn}\n";

int generated = 0;  // how often a data set was made

void count_generations(const std::string& line) {
  generated += line.starts_with("generating");
}

class JobData : public testing::Test {
 protected:
  JobData() {
    generated = 0;
    write_text(folder_ / "job.yaml", kSynthetic);
    arguments_.add("--file", folder_ / "job.yaml");
    arguments_.add("--data-root", folder_ / "data");
  }
  fs::path dataset() { return opened().folder(); }
  Dataset opened() {
    return dataset_of(arguments_, load_job_of(arguments_, count_generations), count_generations);
  }

  TemporaryFolder folder_;
  Arguments arguments_;
};

TEST_F(JobData, AGeneratedDataSetIsMadeOnceAndUsedAgain) {
  const fs::path first = dataset();
  EXPECT_EQ(dataset(), first);
  EXPECT_EQ(generated, 1);
}

TEST_F(JobData, AStoredDataSetThatIsNowhereIsLookedForAloud) {
  write_text(folder_ / "root" / "cora" / "meta.json", "{}");
  setenv("ATOLL_DATA_ROOT", (folder_ / "root").c_str(), 1);
  EXPECT_EQ(stored_dataset("cora"), folder_ / "root" / "cora");
  EXPECT_THAT([] { stored_dataset("cor"); },
              testing::ThrowsMessage<Error>(testing::AllOf(
                  testing::HasSubstr("cor: no such folder, and no data set of this name under " +
                                     (folder_ / "root").string()),
                  testing::HasSubstr("did you mean"), testing::HasSubstr("ATOLL_DATA_ROOT"))));
  setenv("ATOLL_DATA_ROOT", (folder_ / "root" / "cora").c_str(), 1);
  EXPECT_THAT([] { stored_dataset("cora"); },
              testing::ThrowsMessage<Error>(
                  testing::HasSubstr("which is a data set itself: the root is the folder that holds it, " +
                                     (folder_ / "root").string())));
  unsetenv("ATOLL_DATA_ROOT");
}

TEST_F(JobData, AGeneratedDataSetThatWasChangedIsRefused) {
  const fs::path place = dataset(), file = place / "features.npy";
  std::string bytes = read_bytes(file);
  bytes[bytes.size() - 3] = char(bytes[bytes.size() - 3] ^ 1);
  write_text(file, bytes);
  try {
    dataset();
    FAIL() << "was taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(file.string() + ": is damaged"));
    EXPECT_THAT(error.what(), testing::HasSubstr("remove the folder and generate the data set again"));
  }
  fs::remove_all(place);
  EXPECT_EQ(dataset(), place);
}

TEST_F(JobData, GraphsArePreparedWhereTheCommandSays) {
  EXPECT_EQ(opened().prepared_folder(), dataset() / "prepared");
  setenv("ATOLL_PREPARED", (folder_ / "variable").c_str(), 1);
  EXPECT_EQ(opened().prepared_folder(), folder_ / "variable" / dataset().filename());
  arguments_.add("--prepared", folder_ / "option");
  EXPECT_EQ(opened().prepared_folder(), folder_ / "option" / dataset().filename());
  unsetenv("ATOLL_PREPARED");
  EXPECT_FALSE(fs::exists(folder_ / "option")) << "made by who writes there";
}

}  // namespace
}  // namespace atl
