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

/// Twice 0.25 and once 3 × 2, by hand: ((0.5 + 0.5 + 2.44949) / 3)².
TEST(Comparison, AStrategyCostsTheMeanOfItsRunsSquareRoots) {
  const Comparison c = comparison({row("graph", 2, true), row("bns", 0.25, false, {1, 0.9, kNotThere})});
  EXPECT_NEAR(*c.cost(c.rows[1]), 1.32211, 1e-5);
  EXPECT_EQ(c.best(false)->label, "bns");
}

/// Twenty times faster in one of two runs and three times slower in the other is worth it: by hand,
/// ((√0.1 + √6) / 2)² is 1.912. Eight times faster isn't: ((√0.25 + √6) / 2)² is 2.175.
TEST(Comparison, WhatFailsAtTimesIsChosenWhereItCanWinMuch) {
  const std::vector<double> lengths{1, kNotThere};
  EXPECT_EQ(comparison({row("graph", 2, true), row("bns", 0.1, false, lengths)}).best(false)->label, "bns");
  EXPECT_EQ(comparison({row("graph", 2, true), row("bns", 0.25, false, lengths)}).best(false)->label,
            "graph");
}

/// A strategy that fails in one run of three and is fifty times faster else: the mean time, 1.013 of graph's,
/// would leave that to graph. By hand, ((2 √0.02 + √3) / 3)² is 0.451.
TEST(Comparison, AFailureDoesntOutweighAnyGain) {
  const Comparison c = comparison({row("graph", 1, true), row("granndis", 0.02, false, {1, 1, kNotThere})});
  EXPECT_NEAR(*c.cost(c.rows[1]), 0.45109, 1e-5);
  EXPECT_EQ(c.best(false)->label, "granndis");
}

/// All three runs got there, and one that fails counts as half a run beside them. By hand, that makes
/// ((3 √0.86 + √3 / 2) / 3.5)² = 1.0864 of what is 14 % faster than graph, and ((3 √0.4 + √3 / 2) / 3.5)² =
/// 0.6234 of what is 60 % faster.
TEST(Comparison, DoubtOutweighsASmallGain) {
  std::vector<ComparedStrategy> rows{row("graph", 1, true), row("gnnpipe", 0.86, false, {1, 1, 0.5}),
                                     row("bns", 0.4, false, {1, 1, 1})};
  for (ComparedStrategy& each : rows)
    if (each.effect) each.effect->lengths.doubt = 0.5;
  const Comparison c = comparison(rows);
  EXPECT_NEAR(*c.cost(c.rows[1]), 1.0864, 1e-4);
  EXPECT_NEAR(*c.cost(c.rows[2]), 0.6234, 1e-4);
  EXPECT_EQ(comparison({rows[0], rows[1]}).best(false)->label, "graph");
  EXPECT_EQ(c.best(false)->label, "bns");
  EXPECT_EQ(comparison({rows[1], rows[2]}).best(false)->label, "bns") << "no exact one to fall back on";
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

TEST(Comparison, TheTextTellsOtherModelsRunsApart) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true),
                                     row("bns", 0.1, false, {1, 1.2, kNotThere, 0.92})};
  rows[1].effect->measured_on = "", rows[1].effect->lengths.others = 3;
  EXPECT_THAT(
      to_text(comparison(rows)),
      HasSubstr("of 1 run with gin, all, and of 3 runs with other models, 2 came within half a point\n"));
  EXPECT_THAT(
      to_json(comparison(rows)),
      HasSubstr(
          "\"stepsOverGraphOfRuns\":[1.0],\"runsWith\":\"gin\",\"stepsOverGraphOfOtherModels\":[1.2,null,0.92]"));
  rows[1].effect->lengths.others = 4;
  EXPECT_THAT(to_text(comparison(rows)),
              HasSubstr("of 4 runs with other models, 3 came within half a point\n"));
  EXPECT_THAT(to_json(comparison(rows)), testing::Not(HasSubstr("runsWith")));
}

/// pipegcn takes 0.1 or is given up at 7.5; bns takes 1.5 or 4.5.
TEST(Comparison, ATrialSavesWhatAnotherChoiceWouldHaveSaved) {
  const Comparison c = comparison({row("graph", 2.5, true), row("pipegcn", 0.1, false, {1, kNotThere}),
                                   row("bns", 1.5, false, {1, 3}), row("sancus", 2, false, {1.5})});
  const double chosen = std::pow((std::sqrt(0.1) + std::sqrt(7.5)) / 2, 2);
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

TEST(Comparison, RunsCountByTheirWeights) {
  Comparison c = comparison({row("graph", 10, true), row("bns", 1, false, {2, 4, 4})});
  c.rows[1].effect->lengths.of_runs[1].weight = c.rows[1].effect->lengths.of_runs[2].weight = 0.5;
  EXPECT_NEAR(*c.cost(c.rows[1]), 1.5 + std::sqrt(2.0), 1e-12) << "((√2 + √4) / 2)²";
  EXPECT_NEAR(c.saving(c.rows[1]), 0, 1e-12) << "graph never is faster";
}

}  // namespace
}  // namespace atl
