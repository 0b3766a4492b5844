// `atoll run` refuses bad input before it leaves anything behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "command/commands.h"
#include "dataset/source_files.h"

namespace atl {
namespace {

struct Refused {
  const char *name, *option, *value, *says;
};

class RunRefuses : public testing::TestWithParam<Refused> {};

TEST_P(RunRefuses, BeforeThereIsAnOutputFolder) {
  TemporaryFolder folder;
  write_text(
      folder / "job.yaml",
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
      "  dataset: {synthetic: {kind: community, vertices: 200, averageDegree: 6, features: 4, classes: 2}}\n"
      "  model: {kind: gcn}\n");
  Arguments arguments;
  arguments.add("--file", folder / "job.yaml");
  arguments.add("--data-root", folder / "data");
  arguments.add("--output", folder / "out");
  arguments.add(GetParam().option, GetParam().value);
  try {
    run_command().run(arguments);
    FAIL() << "was run";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(GetParam().says));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

INSTANTIATE_TEST_SUITE_P(Options, RunRefuses,
                         testing::Values(Refused{"trace_device", "--trace", "/dev/null",
                                                 "--trace: /dev/null is a device or a pipe"},
                                         Refused{"metrics_word", "--metrics", "foo",
                                                 "--metrics: 'foo' is not allowed (use PORT"},
                                         Refused{"metrics_port", "--metrics", "localhost:70000",
                                                 "'localhost:70000' is not allowed"},
                                         Refused{"timeout", "--timeout", "0", "--timeout"},
                                         Refused{"ranks", "--ranks", "201", "201 ranks for 200 vertices"}),
                         [](const auto& param) { return std::string(param.param.name); });

}  // namespace
}  // namespace atl
