// What is stored of strategies that aren't exact, for a job's model and data set.
#include "compare/effects.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace atl {
namespace {

TEST(KnownEffect, EffectsAreThoseOfTheSetThatIsMostLike) {
  SetSize meta{.vertices = 3000, .arcs = 12000, .features = 1400, .training = 150};
  const Effect effect = known_effect("pipegcn", "sage", meta);
  EXPECT_EQ(effect.measured_on, "cora");
  EXPECT_EQ(effect.model, "sage");
  EXPECT_EQ(effect.pairs, 1);
  EXPECT_EQ(known_effect("toy", "sage", meta).measured_on, "");
  meta.vertices = 20000, meta.arcs = 300000, meta.features = 4000, meta.training = 10000;
  EXPECT_NE(known_effect("pipegcn", "sage", meta).measured_on, "cora");
}

TEST(KnownEffect, HowManyVerticesTrainCounts) {
  SetSize like{.vertices = 6000, .arcs = 60000, .features = 1000, .training = 3600};
  EXPECT_NE(known_effect("minibatch", "sage", like).measured_on, "cora");
  like.training = 100;
  EXPECT_EQ(known_effect("minibatch", "sage", like).measured_on, "cora");
}

const std::vector<StoredRuns> kStored{
    {"bns", "sage", false, {1.1, 1.2, 1.3, 1.4}},      {"bns", "gin", false, {2, 3}},
    {"bns", "gin", true, {1.5, 2.5, kNotThere}},       {"gnnpipe", "gat", false, {5, 6}},
    {"gnnpipe:stages=2", "gat", false, {7}},           {"minibatch", "gat", true, {8, 8.5, 8.7}},
    {"minibatch:sampler=historical", "gat", true, {9}}};

std::vector<double> values(const Lengths& lengths) {
  std::vector<double> values;
  for (const Weighted& each : lengths.of_runs) values.push_back(each.value);
  return values;
}

/// The two runs with the model count as two. So do the four with another model, and one that fails.
TEST(StoredLengths, OtherModelsAndOneThatFailsCountAsTwo) {
  const Lengths few = lengths_of(kStored, "bns", "gin", false);
  EXPECT_THAT(values(few), testing::ElementsAre(2, 3, 1.1, 1.2, 1.3, 1.4));
  EXPECT_EQ(few.model, "gin");
  EXPECT_EQ(few.others, 4U);
  EXPECT_EQ(few.of_runs.front().weight, 1);
  EXPECT_DOUBLE_EQ(few.of_runs.back().weight, 0.4);
  EXPECT_DOUBLE_EQ(few.doubt, 0.4);
}

TEST(StoredLengths, TheFewerRunsThereAreTheMoreDoubtThereIs) {
  const Lengths alone = lengths_of(kStored, "minibatch", "gat", true);
  EXPECT_EQ(alone.others, 0U);
  EXPECT_EQ(alone.doubt, 2) << "no run with another model";
  const Lengths none = lengths_of(kStored, "gnnpipe", "gcn", false);
  EXPECT_EQ(none.others, 3U);
  EXPECT_DOUBLE_EQ(none.of_runs.front().weight, 0.5);
  EXPECT_DOUBLE_EQ(none.doubt, 0.5);
}

TEST(StoredLengths, PartsByHashCountByThemselves) {
  EXPECT_THAT(values(lengths_of(kStored, "bns", "gin", true)), testing::ElementsAre(1.5, 2.5, kNotThere));
  EXPECT_THAT(values(lengths_of(kStored, "gnnpipe", "gcn", true)), testing::ElementsAre(5, 6, 7))
      << "as by metis, until they are measured";
}

TEST(StoredLengths, StagesMakeNoOtherStrategyAndSamplersDo) {
  const Lengths stages = lengths_of(kStored, "gnnpipe:stages=4", "gat", false);
  EXPECT_THAT(values(stages), testing::ElementsAre(5, 6, 7));
  EXPECT_FALSE(stages.guessed);
  const Lengths ladies = lengths_of(kStored, "minibatch:sampler=ladies", "gat", true);
  EXPECT_THAT(values(ladies), testing::ElementsAre(8, 8.5, 8.7, 9));
  EXPECT_TRUE(ladies.guessed);
  EXPECT_THAT(values(lengths_of(kStored, "toy", "gat", true)), testing::IsEmpty());
}

TEST(StoredLengths, NothingIsChosenByFewerThanThreeRuns) {
  EXPECT_FALSE(lengths_of(kStored, "minibatch", "gat", true).guessed);
  EXPECT_TRUE(lengths_of(kStored, "minibatch:sampler=historical", "gat", true).guessed);
}

}  // namespace
}  // namespace atl
