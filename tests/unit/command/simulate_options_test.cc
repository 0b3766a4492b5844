// Options of `atoll simulate` that exclude each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "command/commands.h"
#include "temporary_folder.h"

namespace atl {
namespace {

/// A sample was asked for, and all ranks were modelled without a word.
TEST(SimulateOptions, OfRanksThatRunAreRefusedBesideAModel) {
  TemporaryFolder folder;
  write_bytes(folder / "two.yaml", "servers: 2\nbetween: {rate: 1gbit}\n");
  for (const char* option : {"--alone", "--sample", "--at-once"}) {
    Arguments arguments;
    arguments.add("--file", folder / "absent.yaml");
    arguments.add("--topology", folder / "two.yaml");
    arguments.add("--modelled", "");
    arguments.add(option, "4");
    EXPECT_THAT(error_of([&] { simulate_command().run(arguments); }),
                testing::HasSubstr(std::string("--modelled and ") + option + " exclude each other"));
  }
}

}  // namespace
}  // namespace atl
