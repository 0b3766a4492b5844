// What a manifest and its data set must agree on, where it depends on the strategy.
#include "command/training_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "train/small_job.h"

namespace atl {
namespace {

LoadedJob pipeline_of(const std::string& options) {
  return parse_job(
      "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
      "  model: {kind: gcn, layers: 2}\n  placement: {ranks: 4}\n  strategy:\n    kind: gnnpipe\n    gnnpipe: " +
          options + "\n",
      "small.yaml");
}

TEST(TrainingFit, MoreChunksThanVerticesAreRefused) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 60});
  const Dataset dataset = Dataset::open(folder / "small");
  EXPECT_NO_THROW(check_trainable(pipeline_of("{chunks: 30}"), dataset));
  EXPECT_THAT(
      [&] { check_trainable(pipeline_of("{chunks: 31}"), dataset); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "small.yaml:10: strategy.gnnpipe.chunks: 31 from each of 2 parts, and small has 60 vertices (use 30 or "
          "fewer)")));
}

/// Every server, or rank, has a column at least.
TEST(TrainingFit, MorePiecesThanFeaturesAreRefused) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = 3});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto by_columns = [](const std::string& options, const std::string& placement) {
    return parse_job(
        "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n  dataset: {name: small}\n"
        "  model: {kind: gcn, layers: 2}\n  placement: " +
            placement + "\n  strategy:\n    kind: p3\n    p3:\n      " + options + "\n",
        "small.yaml");
  };
  EXPECT_NO_THROW(check_trainable(by_columns("columns: rank", "{ranks: 3}"), dataset));
  EXPECT_NO_THROW(check_trainable(by_columns("columns: server", "{ranks: 6, ranksPerServer: 2}"), dataset));
  EXPECT_NO_THROW(check_trainable(by_columns("copies: 2", "{ranks: 6}"), dataset));
  EXPECT_THAT(
      [&] { check_trainable(by_columns("columns: rank", "{ranks: 5}"), dataset); },
      testing::ThrowsMessage<Error>(testing::HasSubstr(
          "small.yaml:11: strategy.p3.columns: columns are cut into 5 pieces, and small has 3 features: 2 "
          "would be empty (use fewer ranks or servers, or more copies)")));
}

}  // namespace
}  // namespace atl
