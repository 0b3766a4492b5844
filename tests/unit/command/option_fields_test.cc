// Options that stand for fields of the manifest: errors name the options.
#include "command/option_fields.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "command/commands.h"

namespace atl {
namespace {

using testing::HasSubstr;
using testing::Not;

Arguments arguments(const std::vector<std::pair<std::string, std::string>>& given) {
  Arguments all;
  for (const auto& [name, value] : given) all.add(name, value);
  return all;
}

std::string refusal(const Command& command, const Arguments& given) {
  try {
    command.run(given);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(OptionFields, AWrongValueIsSaidOnceByItsOptionsName) {
  const std::string text =
      refusal(dataset_generate_command(), arguments({{"DST", "/proc/x"}, {"--preset", "redit"}}));
  EXPECT_EQ(text,
            "--preset: 'redit' is unknown (did you mean reddit? known: reddit, products, yelp, flickr)");
}

TEST(OptionFields, EveryWrongValueIsSaid) {
  const std::string text = refusal(
      dataset_generate_command(),
      arguments({{"DST", "/proc/x"}, {"--preset", "reddit"}, {"--scale", "-3"}, {"--vertices", "100q"}}));
  EXPECT_THAT(text, HasSubstr("--scale: -3 is not allowed"));
  EXPECT_THAT(text, HasSubstr("\n--vertices: '100q' is not allowed"));
  EXPECT_THAT(text, Not(HasSubstr("dataset.synthetic")));
}

TEST(OptionFields, WhatIsMissingIsSaidWhereNothingIsWrong) {
  const std::string text =
      refusal(dataset_generate_command(), arguments({{"DST", "/proc/x"}, {"--classes", "3"}}));
  EXPECT_THAT(text, HasSubstr("--vertices: is required (give it, or a preset"));
  EXPECT_THAT(text, HasSubstr("--features: is required"));
}

TEST(OptionFields, ValuesReachTheirFields) {
  const OptionField options[] = {{"--seed", "dataset.synthetic.seed"},
                                 {"--preset", "dataset.synthetic.preset"}};
  const Job job =
      job_of_options(arguments({{"--seed", "7"}, {"--preset", "yelp"}}), options,
                     "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
                     "  dataset: {synthetic: {kind: community, seed: 3}}\n  model: {kind: gcn}\n");
  EXPECT_EQ(job.dataset.synthetic.seed, 7u);
  EXPECT_EQ(job.dataset.synthetic.preset, "yelp");
}

}  // namespace
}  // namespace atl
