// The data set of a job: what is there already is checked before it is trained on.
#include "command/job_data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/error.h"
#include "dataset/temp_folder.h"

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
  fs::path dataset() {
    return dataset_of(arguments_, load_job_of(arguments_, count_generations), count_generations);
  }

  TempFolder folder_;
  Arguments arguments_;
};

TEST_F(JobData, AGeneratedDataSetIsMadeOnceAndUsedAgain) {
  const fs::path first = dataset();
  EXPECT_EQ(dataset(), first);
  EXPECT_EQ(generated, 1);
}

TEST_F(JobData, AGeneratedDataSetThatWasChangedIsRefused) {
  const fs::path place = dataset(), file = place / "features.npy";
  std::string bytes = read_text(file);
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

}  // namespace
}  // namespace atl
