// The choice of a strategy, and the reasons given for it.
#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

namespace atl {
namespace {

using testing::HasSubstr;

/// `lengths`: of runs with gin.
ComparedStrategy row(const std::string& label, double epoch, bool exact,
                     const std::vector<double>& lengths = {}, double steps = 1) {
  ComparedStrategy row{.label = label, .exact = exact};
  row.forecast.row.epoch = epoch, row.forecast.row.compute = epoch;
  row.forecast.steps = steps;
  if (lengths.empty()) return row;
  row.effect = Effect{.measured_on = "cora", .model = "sage", .points = -0.2, .deviation = 0.1, .pairs = 3};
  row.effect->lengths.model = "gin";
  for (const double each : lengths) row.effect->lengths.of_runs.push_back({each});
  return row;
}

Comparison comparison(std::vector<ComparedStrategy> rows) {
  Topology here{.name = "here"};
  here.servers.push_back({.name = "a", .ranks = {0, 1}, .rate = 1e9});
  return {.dataset = "cora", .topology = here, .rows = std::move(rows)};
}

TEST(Comparison, TheBestExactOneHasTheShortestEpoch) {
  const Comparison c =
      comparison({row("graph", 2, true), row("cagnet", 1.5, true), row("pipegcn", 1, false, {1})});
  EXPECT_EQ(c.best(true)->label, "cagnet");
  EXPECT_EQ(c.best(false)->label, "pipegcn");
}

TEST(Comparison, StepsThatAreNeededCount) {
  const Comparison c =
      comparison({row("graph", 2, true), row("pipegcn", 1, false, {2.5}), row("bns", 1, false, {1.9})});
  EXPECT_EQ(c.best(false)->label, "bns");
}

TEST(Comparison, NobodyLearnsInFewerStepsThanGraph) {
  const Comparison c = comparison({row("graph", 2, true), row("gnnpipe", 2.1, false, {0.5})});
  EXPECT_EQ(c.best(false)->label, "graph");
}

/// Found on the job's own graph, fewer steps are fewer.
TEST(Comparison, WhatWasTriedCountsAsItIs) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("gnnpipe", 2.1, false, {0.5})};
  rows[1].effect->tried_on = "this graph";
  const Comparison c = comparison(rows);
  EXPECT_EQ(c.best(false)->label, "gnnpipe");
  EXPECT_THAT(to_text(c), HasSubstr("half a point, tried on this graph"));
  EXPECT_THAT(to_json(c), HasSubstr("\"triedOn\":\"this graph\""));
}

/// Ten steps an epoch, of which as few are needed as graph has epochs.
TEST(Comparison, AnEpochOfManyStepsIsManySteps) {
  const Comparison c = comparison({row("graph", 2, true), row("minibatch", 5, false, {1}, 10)});
  EXPECT_DOUBLE_EQ(*c.cost(*c.best(false)), 0.5);
}

TEST(Comparison, NobodyChoosesWhatIsRefusedOrUnknownOrNeverGotThere) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("cagnet", 1, true), row("bns", 0.1, false),
                                     row("gnnpipe", 0.1, false, {kNotThere, kNotThere})};
  rows[1].refused = "refused: too large";
  const Comparison c = comparison(rows);
  EXPECT_EQ(c.best(true)->label, "graph");
  EXPECT_EQ(c.best(false)->label, "graph");
  EXPECT_EQ(comparison({rows[1], rows[2]}).best(false), nullptr);
}

TEST(Comparison, TheTextSaysWhy) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("pipegcn", 1, false, {1.2}),
                                     row("bns", 1, false)};
  rows[0].forecast.row.exposed = 1;
  rows[0].forecast.row.waits[std::size_t(Traffic::kHalo)] = 1;
  rows.push_back(row("sancus", 3, false, {1.5}));
  rows.back().effect->pairs = 1;
  rows.push_back(row("dgs", 3, false, {1.5}));
  rows.back().effect->visits = 0.08;
  rows.push_back({.label = "p3", .refused = "refused: 3 columns for 4 ranks"});
  const std::string text = to_text(comparison(rows));
  EXPECT_THAT(text, HasSubstr("p3        refused: 3 columns for 4 ranks\n"));
  EXPECT_THAT(text, HasSubstr("-0.2 ± 0.1 (sage, cora, 3 pairs)\n"));
  EXPECT_THAT(text, HasSubstr("-0.2 (sage, cora, one pair)\n"));
  EXPECT_THAT(text, HasSubstr("-0.2 ± 0.1 (sage, cora, 3 pairs after 8 % of the vertex visits)\n"));
  EXPECT_THAT(text, HasSubstr("unknown  unknown\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "or its trial failed, so it isn't chosen; --trial 200 trains it for a while on this graph\n"));
  EXPECT_THAT(text, HasSubstr("the best exact one is graph: an epoch is predicted to take 2.00 s"));
  EXPECT_THAT(text, HasSubstr("the best of all is pipegcn"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "; of 1 run with gin, all got to graph's accuracy less half a point, in 1.20 times as many steps"));
  EXPECT_THAT(text, HasSubstr("graph takes 2.00 s: it computes 2.00 s, waits 1.00 s, most of it for halo"));
}

/// Tried for 23 steps where graph needs 10: it costs more than 24 of its steps do, whatever other graphs
/// tell, and nobody chooses it.
TEST(Comparison, ATrialThatWasCutOffIsMore) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("p3", 0.4, false, {0.1})};
  enter_trial(rows[1], "this graph", {}, 23, 10);
  const Comparison c = comparison(rows);
  EXPECT_FALSE(c.cost(c.rows[1]));
  EXPECT_DOUBLE_EQ(*c.rows[1].cost_above(), 0.4 * 2.4);
  EXPECT_EQ(c.best(false)->label, "graph");
  EXPECT_THAT(to_text(c), HasSubstr(" > 0.48  -0.2"));
  const std::string json = to_json(c);
  EXPECT_THAT(json, HasSubstr("\"stepsOverGraph\":null,\"stepsOverGraphAbove\":2.4"));
  EXPECT_THAT(json, HasSubstr("\"costSeconds\":null,\"costSecondsAbove\":0.96"));
  EXPECT_LT(to_text(c).find("\np3 "), to_text(c).find("\ngraph ")) << "by what it costs at least";
}

/// A step of it takes longer than the best so far needs: the table's value, of another graph, isn't its time.
TEST(Comparison, ATrialThatCouldNotBeginIsMore) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("dgs", 30, false, {0.01})};
  enter_trial(rows[1], "this graph", {}, 0, 10);
  const Comparison c = comparison(rows);
  EXPECT_DOUBLE_EQ(*c.rows[1].cost_above(), 3);
  EXPECT_EQ(c.best(false)->label, "graph");
}

/// Stored runs say 1.2 times graph's ten steps, so 12. After 11 steps they may be right; after 13 they
/// aren't.
TEST(Comparison, ATrialThatTimeHasEndedIsMoreOnceItHasTakenLongerThanKnown) {
  for (const auto& [trained, is_more] : {std::pair(11, false), {13, true}}) {
    SCOPED_TRACE(trained);
    Comparison c = comparison({row("graph", 2, true), row("bns", 0.5, false, {1.2, 1.2, 1.2})});
    EXPECT_EQ(enter_unfinished_trial(c, c.rows[1], "this graph", trained, 10), is_more);
    EXPECT_EQ(c.rows[1].cost_above().has_value(), is_more);
    EXPECT_EQ(c.best(false)->label, is_more ? "graph" : "bns");
    if (is_more) {
      EXPECT_DOUBLE_EQ(*c.rows[1].cost_above(), 0.5 * 1.4);
      EXPECT_THAT(to_text(c), HasSubstr(" > 0.35  -0.2"));
    }
  }
  Comparison unknown = comparison({row("graph", 2, true), row("toy", 0.5, false)});
  EXPECT_FALSE(enter_unfinished_trial(unknown, unknown.rows[1], "this graph", 13, 10));
  EXPECT_FALSE(unknown.rows[1].effect) << "as unknown as before";
}

TEST(Comparison, ATrialThatGotThereTellsItsSteps) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("minibatch:sampler=ladies", 1, false)};
  enter_trial(rows[1], "this graph", 15, 20, 10);
  const Comparison c = comparison(rows);
  EXPECT_DOUBLE_EQ(*c.cost(c.rows[1]), 1.5);
  EXPECT_EQ(c.best(false), &c.rows[1]);
  EXPECT_THAT(to_text(c), HasSubstr("0.75  at most half a point below (validation, tried on this graph)\n"));
}

/// Twice 0.25 and once 3 × 2, by hand: (0.25 × 0.25 × 6)^(1/3).
TEST(Comparison, AStrategyCostsTheGeometricMeanOfItsRuns) {
  const Comparison c = comparison({row("graph", 2, true), row("bns", 0.25, false, {1, 0.9, kNotThere})});
  EXPECT_NEAR(*c.cost(c.rows[1]), 0.72112, 1e-5);
  EXPECT_EQ(c.best(false)->label, "bns");
}

/// Eight times faster in one of two runs and three times slower in the other is worth it; a third faster
/// isn't.
TEST(Comparison, WhatFailsAtTimesIsChosenWhereItCanWinMuch) {
  const std::vector<double> lengths{1, kNotThere};
  EXPECT_EQ(comparison({row("graph", 2, true), row("bns", 0.25, false, lengths)}).best(false)->label, "bns");
  EXPECT_EQ(comparison({row("graph", 2, true), row("bns", 1.3, false, lengths)}).best(false)->label, "graph");
}

TEST(Comparison, ARunIsGivenUpAtThreeTimesGraphsTime) {
  const Comparison c = comparison({row("graph", 2, true), row("minibatch", 1, false, {50})});
  EXPECT_DOUBLE_EQ(*c.cost(c.rows[1]), 6);
}

TEST(Comparison, TheTextSaysHowManyRunsGotThere) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true),
                                     row("bns", 0.25, false, {1, 1.88, kNotThere, 0.92})};
  rows[1].effect->measured_on = "";
  const std::string text = to_text(comparison(rows));
  EXPECT_THAT(text, HasSubstr("of 4 runs with gin, 3 came within half a point\n"));
  EXPECT_THAT(
      text,
      HasSubstr("; of 4 runs with gin, 3 got to graph's accuracy less half a point, in 0.92 to 1.88 times as "
                "many steps as graph"));
  EXPECT_THAT(to_json(comparison(rows)),
              HasSubstr("\"stepsOverGraphOfRuns\":[1.0,1.88,null,0.92],\"runsWith\":\"gin\""));
}

/// pipegcn takes 0.5 or is given up at 7.5; bns takes 1.5 or 4.5.
TEST(Comparison, ATrialSavesWhatAnotherChoiceWouldHaveSaved) {
  const Comparison c = comparison({row("graph", 2.5, true), row("pipegcn", 0.5, false, {1, kNotThere}),
                                   row("bns", 1.5, false, {1, 3}), row("sancus", 2, false, {1.5})});
  const double chosen = std::sqrt(0.5 * 7.5);
  EXPECT_EQ(c.best(false)->label, "pipegcn");
  EXPECT_NEAR(c.saving(c.rows[2]), (chosen - 1.5) / 2, 1e-12);
  EXPECT_NEAR(c.saving(c.rows[1]), (7.5 - 2.5) / 2, 1e-12) << "without it graph is chosen";
  EXPECT_EQ(c.saving(c.rows[3]), 0) << "it can't be faster";
}

TEST(Comparison, WhatIsUnknownGetsThereOneTimeOutOfTwo) {
  Comparison c = comparison({row("graph", 2, true), row("toy", 0.5, false)});
  EXPECT_DOUBLE_EQ(c.saving(c.rows[1]), 1.5 / 2);
  c.rows[1].effect = Effect{.lengths = {.of_runs = {{2}, {3}}, .guessed = true}};
  EXPECT_DOUBLE_EQ(c.saving(c.rows[1]), (1.0 + 0.5) / 2) << "what is known of its kind";
  EXPECT_EQ(c.best(false)->label, "graph") << "but it isn't chosen by that";
}

TEST(Comparison, EffectsAreThoseOfTheSetThatIsMostLike) {
  SetSize meta{.vertices = 3000, .arcs = 12000, .features = 1400, .training = 150};
  const Effect effect = known_effect("pipegcn", "sage", meta);
  EXPECT_EQ(effect.measured_on, "cora");
  EXPECT_EQ(effect.model, "sage");
  EXPECT_EQ(effect.pairs, 1);
  EXPECT_EQ(known_effect("toy", "sage", meta).measured_on, "");
  meta.vertices = 20000, meta.arcs = 300000, meta.features = 4000, meta.training = 10000;
  EXPECT_NE(known_effect("pipegcn", "sage", meta).measured_on, "cora");
}

TEST(Comparison, HowManyVerticesTrainCounts) {
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

TEST(StoredLengths, ThreeRunsWithTheModelSpeakForIt) {
  const Lengths own = lengths_of(kStored, "bns", "sage", false);
  EXPECT_THAT(values(own), testing::ElementsAre(1.1, 1.2, 1.3, 1.4));
  EXPECT_EQ(own.model, "sage");
}

/// Two of three are there; the four with another model count as the third.
TEST(StoredLengths, OtherModelsMakeUpForWhatIsLacking) {
  const Lengths few = lengths_of(kStored, "bns", "gin", false);
  EXPECT_THAT(values(few), testing::ElementsAre(2, 3, 1.1, 1.2, 1.3, 1.4));
  EXPECT_EQ(few.of_runs.front().weight, 1);
  EXPECT_EQ(few.of_runs.back().weight, 0.25);
  EXPECT_EQ(few.model, "");
}

TEST(Comparison, RunsCountByTheirWeights) {
  Comparison c = comparison({row("graph", 10, true), row("bns", 1, false, {2, 4, 4})});
  c.rows[1].effect->lengths.of_runs[1].weight = c.rows[1].effect->lengths.of_runs[2].weight = 0.5;
  EXPECT_NEAR(*c.cost(c.rows[1]), std::sqrt(8.0), 1e-12);
  EXPECT_NEAR(c.saving(c.rows[1]), 0, 1e-12) << "graph never is faster";
}

TEST(StoredLengths, PartsByHashCountByThemselves) {
  EXPECT_THAT(values(lengths_of(kStored, "bns", "sage", true)), testing::ElementsAre(1.5, 2.5, kNotThere));
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
