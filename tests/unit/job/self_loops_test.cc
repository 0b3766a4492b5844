// `dataset.selfLoops: model` in a user's manifest, and in one that a run has written.
#include "job/load.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace atl {
namespace {

LoadedJob given(const std::string& model, const std::string& loops = "") {
  return parse_job(fmt::format("apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {{name: x}}\nspec:\n"
                               "  dataset: {{name: d{}}}\n  model: {{{}}}\n",
                               loops.empty() ? "" : ", selfLoops: " + loops, model),
                   "x.yaml");
}

SelfLoops settled(const std::string& model, const std::string& loops = "") {
  LoadedJob loaded = given(model, loops);
  settle_self_loops(loaded);
  return loaded.job.dataset.self_loops;
}

TEST(SelfLoopsOfAModel, AreTheDatasWhereItReadsTheArcsThatThereAre) {
  for (const char* model :
       {"kind: sage", "kind: gin", "kind: resgcn", "kind: resgcn, options: {aggregator: softmax}"}) {
    EXPECT_EQ(settled(model), SelfLoops::kKeep) << model;
    EXPECT_EQ(settled(model, "model"), SelfLoops::kKeep) << model;
    EXPECT_EQ(settled(model, "remove"), SelfLoops::kRemove) << model;
  }
  for (const char* model :
       {"kind: gcn", "kind: gat", "kind: gcnii", "kind: sgc", "kind: sage, options: {aggregator: gcn}",
        "kind: sage, options: {aggregator: meanWithSelf}"})
    EXPECT_EQ(settled(model), SelfLoops::kModel) << model << " gives each vertex one, as it always did";
}

/// Else a run would read its own manifest in another way than it was meant.
TEST(SelfLoopsOfAModel, AreWrittenDownByARun) {
  LoadedJob loaded = given("kind: sage");
  settle_self_loops(loaded);
  EXPECT_EQ(parse_job(write_job(loaded.job), "job.yaml").job.dataset.self_loops, SelfLoops::kKeep);
  const Job before = given("kind: sage").job;
  EXPECT_EQ(parse_job(write_job(before), "job.yaml").job.dataset.self_loops, SelfLoops::kModel);
}

/// What is given by its default says nothing against what a run has been doing.
TEST(SelfLoopsOfAModel, AreNotGivenWhereTheModelDecides) {
  LoadedJob by_model = given("kind: sage", "model"), by_user = given("kind: sage", "keep");
  settle_self_loops(by_model), settle_self_loops(by_user);
  EXPECT_FALSE(by_model.given.contains("dataset.selfLoops"));
  EXPECT_TRUE(by_user.given.contains("dataset.selfLoops"));
}

}  // namespace
}  // namespace atl
