// The choice of a strategy, and the reasons given for it.
#include "compare/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace atl {
namespace {

using testing::HasSubstr;

ComparedStrategy row(const std::string& label, double epoch, bool exact, double length = 0,
                     double steps = 1) {
  ComparedStrategy row{.label = label, .exact = exact};
  row.forecast.row.epoch = epoch, row.forecast.row.compute = epoch;
  row.forecast.steps = steps;
  if (length > 0)
    row.effect = Effect{.measured_on = "cora",
                        .model = "sage",
                        .points = -0.2,
                        .deviation = 0.1,
                        .pairs = 3,
                        .length = length};
  return row;
}

Comparison comparison(std::vector<ComparedStrategy> rows) {
  Topology here{.name = "here"};
  here.servers.push_back({.name = "a", .ranks = {0, 1}, .rate = 1e9});
  return {.dataset = "cora", .topology = here, .rows = std::move(rows)};
}

TEST(Comparison, TheBestExactOneHasTheShortestEpoch) {
  const Comparison c =
      comparison({row("graph", 2, true), row("cagnet", 1.5, true), row("pipegcn", 1, false, 1)});
  EXPECT_EQ(c.best(true)->label, "cagnet");
  EXPECT_EQ(c.best(false)->label, "pipegcn");
}

TEST(Comparison, StepsThatAreNeededCount) {
  const Comparison c =
      comparison({row("graph", 2, true), row("pipegcn", 1, false, 2.5), row("bns", 1, false, 1.9)});
  EXPECT_EQ(c.best(false)->label, "bns");
}

TEST(Comparison, NobodyLearnsInFewerStepsThanGraph) {
  const Comparison c = comparison({row("graph", 2, true), row("gnnpipe", 2.1, false, 0.5)});
  EXPECT_EQ(c.best(false)->label, "graph");
}

/// Found on the job's own graph, fewer steps are fewer.
TEST(Comparison, WhatWasTriedCountsAsItIs) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("gnnpipe", 2.1, false, 0.5)};
  rows[1].effect->tried_on = "this graph";
  const Comparison c = comparison(rows);
  EXPECT_EQ(c.best(false)->label, "gnnpipe");
  EXPECT_THAT(to_text(c), HasSubstr("half a point, tried on this graph"));
  EXPECT_THAT(to_json(c), HasSubstr("\"triedOn\":\"this graph\""));
}

/// Ten steps an epoch, of which as few are needed as graph has epochs.
TEST(Comparison, AnEpochOfManyStepsIsManySteps) {
  const Comparison c = comparison({row("graph", 2, true), row("minibatch", 5, false, 1, 10)});
  EXPECT_DOUBLE_EQ(*c.best(false)->cost(), 0.5);
}

TEST(Comparison, NobodyChoosesWhatIsRefusedOrUnknownOrNeverGotThere) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("cagnet", 1, true), row("bns", 0.1, false),
                                     row("gnnpipe", 0.1, false, std::numeric_limits<double>::infinity())};
  rows[1].refused = "refused: too large";
  const Comparison c = comparison(rows);
  EXPECT_EQ(c.best(true)->label, "graph");
  EXPECT_EQ(c.best(false)->label, "graph");
  EXPECT_EQ(comparison({rows[1], rows[2]}).best(false), nullptr);
}

TEST(Comparison, TheTextSaysWhy) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("pipegcn", 1, false, 1.2),
                                     row("bns", 1, false)};
  rows[0].forecast.row.exposed = 1;
  rows[0].forecast.row.waits[std::size_t(Traffic::kHalo)] = 1;
  rows.push_back(row("sancus", 3, false, 1.5));
  rows.back().effect->pairs = 1;
  rows.push_back(row("dgs", 3, false, 1.5));
  rows.back().effect->visits = 0.08;
  rows.push_back({.label = "p3", .refused = "refused: 3 columns for 4 ranks"});
  const std::string text = to_text(comparison(rows));
  EXPECT_THAT(text, HasSubstr("p3        refused: 3 columns for 4 ranks\n"));
  EXPECT_THAT(text, HasSubstr("-0.2 ± 0.1 (sage, cora, 3 pairs)\n"));
  EXPECT_THAT(text, HasSubstr("-0.2 (sage, cora, one pair)\n"));
  EXPECT_THAT(text, HasSubstr("-0.2 ± 0.1 (sage, cora, 3 pairs after 8 % of the vertex visits)\n"));
  EXPECT_THAT(text, HasSubstr("unknown  unknown\n"));
  EXPECT_THAT(text, HasSubstr("so it isn't chosen; --trial 200 trains it for a while on this graph\n"));
  EXPECT_THAT(text, HasSubstr("the best exact one is graph: an epoch is predicted to take 2.00 s"));
  EXPECT_THAT(text, HasSubstr("the best of all is pipegcn"));
  EXPECT_THAT(text, HasSubstr("1.20 times as many steps as graph"));
  EXPECT_THAT(text, HasSubstr("graph takes 2.00 s: it computes 2.00 s, waits 1.00 s, most of it for halo"));
}

/// Tried for 23 steps where graph needs 10: it costs more than 24 of its steps do, whatever other graphs
/// tell, and nobody chooses it.
TEST(Comparison, ATrialThatWasCutOffIsMore) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("p3", 0.4, false, 0.1)};
  enter_trial(rows[1], "this graph", {}, 23, 10);
  const Comparison c = comparison(rows);
  EXPECT_FALSE(c.rows[1].cost());
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
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("dgs", 30, false, 0.01)};
  enter_trial(rows[1], "this graph", {}, 0, 10);
  const Comparison c = comparison(rows);
  EXPECT_DOUBLE_EQ(*c.rows[1].cost_above(), 3);
  EXPECT_EQ(c.best(false)->label, "graph");
}

TEST(Comparison, ATrialThatGotThereTellsItsSteps) {
  std::vector<ComparedStrategy> rows{row("graph", 2, true), row("minibatch:sampler=ladies", 1, false)};
  enter_trial(rows[1], "this graph", 15, 20, 10);
  const Comparison c = comparison(rows);
  EXPECT_DOUBLE_EQ(*c.rows[1].cost(), 1.5);
  EXPECT_EQ(c.best(false), &c.rows[1]);
  EXPECT_THAT(to_text(c), HasSubstr("0.75  at most half a point below (validation, tried on this graph)\n"));
}

TEST(Comparison, EffectsAreThoseOfTheSetThatIsMostLike) {
  SetSize meta{.vertices = 3000, .arcs = 12000, .features = 1400, .training = 150};
  const auto effect = measured_effect("pipegcn", meta);
  ASSERT_TRUE(effect);
  EXPECT_EQ(effect->measured_on, "cora");
  EXPECT_EQ(effect->model, "sage");
  EXPECT_EQ(effect->pairs, 1);
  EXPECT_TRUE(measured_effect("gnnpipe:stages=2", meta)) << "the kind's own";
  EXPECT_FALSE(measured_effect("minibatch:sampler=ladies", meta)) << "another sampler is another strategy";
  EXPECT_FALSE(measured_effect("toy", meta));
  meta.vertices = 20000, meta.arcs = 300000, meta.features = 4000, meta.training = 10000;
  EXPECT_NE(measured_effect("pipegcn", meta)->measured_on, "cora");
}

TEST(Comparison, StepsAreTheMiddleOfSeveralSets) {
  const SetSize cora{.vertices = 2708, .arcs = 10556, .features = 1433, .training = 140};
  EXPECT_LT(measured_effect("bns", cora)->length, 2) << "4.75 on cora, 0.8 and 1.2 on the next two";
}

TEST(Comparison, PartsByHashAreMeasuredByThemselves) {
  SetSize like{.vertices = 14000, .arcs = 490000, .features = 700, .training = 8000};
  EXPECT_LT(measured_effect("bns", like)->length, 2);
  const double sancus = *measured_effect("sancus", like)->length,
               pipegcn = measured_effect("pipegcn", like)->points;
  like.scattered = true;
  EXPECT_EQ(measured_effect("sancus", like)->length, sancus) << "as by metis, until it is measured";
  EXPECT_NE(measured_effect("pipegcn", like)->points, pipegcn);
  EXPECT_GT(measured_effect("bns", like)->length, 2) << "most neighbours are drawn, and few of them";
}

TEST(Comparison, HowManyVerticesTrainCounts) {
  SetSize like{.vertices = 6000, .arcs = 60000, .features = 1000, .training = 3600};
  EXPECT_NE(measured_effect("minibatch", like)->measured_on, "cora");
  like.training = 100;
  EXPECT_EQ(measured_effect("minibatch", like)->measured_on, "cora");
}

}  // namespace
}  // namespace atl
