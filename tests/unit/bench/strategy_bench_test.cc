// The report of `atoll bench strategies` on runs whose figures are known.
#include "bench/strategy_bench.h"

#include <gmock/gmock.h>

#include "base/error.h"
#include "base/json.h"
#include "telemetry/sample_run.h"

namespace atl {
namespace {

using testing::HasSubstr;
using Json = nlohmann::json;

/// A run of two ranks whose steady epochs take `seconds`, of which the slower rank computes `compute`; 300
/// bytes an epoch.
RunRecord run_of(double seconds, double compute, double communication, double test = 0.7) {
  RunRecord run = sample_run(6);
  for (EpochRecord& e : run.epochs) {
    e.epoch_seconds = e.epoch == 1 ? 9 : seconds;
    e.train.reset(), e.validation.reset(), e.test.reset();
    if (e.epoch == 5) e.validation = 0.6;
    if (e.epoch == 6) e.epoch_seconds = seconds / 100;  // its transfers ended in the evaluation: not counted
  }
  run.typical_by_rank = {{seconds, compute / 2, seconds - compute / 2, seconds, 0.01},
                         {seconds, compute, seconds - compute, communication, 0.02}};
  run.training_traffic = {{"inter", "halo", 1200}, {"inter", "gradient", 360}, {"intra", "gradient", 240}};
  run.test = test;
  return run;
}

StrategyRuns runs_of(const std::string& label, bool hides, std::vector<RunRecord> rounds) {
  StrategyRuns runs{.label = label, .hides = hides, .rounds = std::move(rounds)};
  runs.planned[std::size_t(Traffic::kHalo)] = 200;
  runs.planned[std::size_t(Traffic::kGradient)] = 100;
  runs.planned_between[std::size_t(Traffic::kHalo)] = 200;
  runs.planned_between[std::size_t(Traffic::kGradient)] = 60;
  return runs;
}

/// graph waits for a communication of 0.6 s after 0.4 s of compute; pipegcn hides it; graph again is a little
/// slower.
std::vector<StrategyRuns> three() {
  return {
      runs_of("graph:overlap=false", false,
              {run_of(1.0, 0.4, 0.6), run_of(1.2, 0.4, 0.8), run_of(1.1, 0.4, 0.7)}),
      runs_of("pipegcn", true, {run_of(0.7, 0.5, 0.6), run_of(0.6, 0.5, 0.6), run_of(0.7, 0.5, 0.6, 0.9)}),
      runs_of("graph:overlap=false", false,
              {run_of(1.0, 0.4, 0.6), run_of(1.2, 0.4, 0.8), run_of(1.0, 0.4, 0.6)})};
}

TEST(StrategyBench, RatiosAreThoseOfARoundAndTheirMiddleCounts) {
  const auto runs = three();
  const auto rows = compare_strategies(runs);
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_DOUBLE_EQ(rows[0].epoch_median, 1.1);
  EXPECT_DOUBLE_EQ(rows[0].epoch_min, 1.0);
  EXPECT_DOUBLE_EQ(rows[0].speed_up(), 1);
  EXPECT_THAT(rows[1].speed_ups,
              testing::ElementsAre(testing::DoubleEq(1.0 / 0.7), testing::DoubleEq(1.2 / 0.6),
                                   testing::DoubleEq(1.1 / 0.7)));
  EXPECT_DOUBLE_EQ(rows[1].speed_up(), 1.1 / 0.7);
  EXPECT_DOUBLE_EQ(*rows[1].test, 0.7);
  EXPECT_TRUE(rows[2].again);
  const StrategyBench bench{.rows = rows};
  EXPECT_DOUBLE_EQ(bench.noise().first, 1);
  EXPECT_DOUBLE_EQ(bench.noise().second, 1.1);
}

TEST(StrategyBench, WhatBoundsAnEpochIsOfTheRankThatComputesLongest) {
  const auto runs = three();
  const auto rows = compare_strategies(runs);
  EXPECT_DOUBLE_EQ(rows[0].compute, 0.4);
  EXPECT_DOUBLE_EQ(rows[0].exposed, 0.7);
  EXPECT_DOUBLE_EQ(rows[0].communication, 0.7);
  EXPECT_DOUBLE_EQ(rows[0].ideal, 1.1) << "it waits for all that travels";
  EXPECT_EQ(rows[0].bound, "compute + communication");
  EXPECT_DOUBLE_EQ(rows[1].ideal, 0.6);
  EXPECT_EQ(rows[1].bound, "communication");
  EXPECT_DOUBLE_EQ(rows[1].epoch_over_ideal(), 0.7 / 0.6);
}

TEST(StrategyBench, OtherBytesThanPlannedAreAnError) {
  auto runs = three();
  runs[1].rounds[2].training_traffic[0].bytes += 4;
  try {
    compare_strategies(runs);
    FAIL() << "4 bytes too many were taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("pipegcn: 1204 bytes for halo in 6 epochs"));
    EXPECT_THAT(error.what(), HasSubstr("the plan says 1200"));
  }
}

TEST(StrategyBench, WhoSkipsBroadcastsMaySendLessThanPlannedButNotMore) {
  auto runs = three();
  runs[1].epochs = PlannedBytes::kTheMost;
  runs[1].rounds[2].training_traffic[0].bytes = 600;
  const auto rows = compare_strategies(runs);
  EXPECT_EQ(rows[1].bytes[0].bytes, 100);
  EXPECT_THAT(to_text(StrategyBench{.rows = rows}),
              HasSubstr("inter halo 100 B, inter gradient 60 B, intra gradient "
                        "40 B: no more than planned"));
  runs[1].rounds[2].training_traffic[0].bytes = 1201;
  EXPECT_THROW(compare_strategies(runs), Error);
}

TEST(StrategyBench, BatchesThatAreDrawnAnewMaySendOtherBytes) {
  auto runs = three();
  runs[1].epochs = PlannedBytes::kOfTheFirst;
  runs[1].rounds[2].training_traffic[0].bytes = 1206;
  const auto rows = compare_strategies(runs);
  EXPECT_EQ(rows[1].bytes[0].bytes, 201);
  EXPECT_THAT(to_text(StrategyBench{.rows = rows}), HasSubstr("40 B: drawn anew in each epoch"));
}

TEST(StrategyBench, NoSteadyEpochIsAnError) {
  auto runs = three();
  for (EpochRecord& e : runs[1].rounds[0].epochs) e.validation = 0.5;
  EXPECT_THROW(compare_strategies(runs), Error);
}

TEST(StrategyBench, TheTableSaysWhatIsNoiseAndWhatWasSent) {
  const auto runs = three();
  const StrategyBench bench{"850mbit", "{\"servers\":2}", 0.66, 0.655, compare_strategies(runs)};
  const std::string text = to_text(bench);
  EXPECT_THAT(text, HasSubstr("3 rounds of 6 epochs, links of 850mbit (communication takes 65.5 % of "
                              "graph:overlap=false; "
                              "--comm-share is 66.0 %)"));
  EXPECT_THAT(text, HasSubstr("1.57 (1.43–2.00)"));
  EXPECT_THAT(text, HasSubstr("graph:overlap=false again"));
  EXPECT_THAT(text, HasSubstr("speed-ups of 1.000–1.100 are noise"));
  EXPECT_THAT(text, HasSubstr("inter halo 200 B, inter gradient 60 B, intra gradient 40 B: as planned"));
}

TEST(StrategyBench, TheObjectHoldsEveryFigure) {
  const auto runs = three();
  const StrategyBench bench{"850mbit", "{\"servers\":2}", 0.66, 0.655, compare_strategies(runs)};
  const Json json = parse_json(to_json(bench));
  EXPECT_EQ(json["machine"], "2 cores, 24 GiB");
  EXPECT_EQ(json["link"], "850mbit");
  EXPECT_EQ(json["rig"]["servers"], 2);
  EXPECT_EQ(json["commShare"]["reached"], 0.655);
  ASSERT_EQ(json["runs"].size(), 3U);
  const Json& run = json["runs"][1];
  EXPECT_EQ(run["strategy"], "pipegcn");
  EXPECT_DOUBLE_EQ(run["epochSecondsMedian"], 0.7);
  EXPECT_DOUBLE_EQ(run["computeSeconds"], 0.5);
  EXPECT_DOUBLE_EQ(run["communicationSeconds"], 0.6);
  EXPECT_NEAR(run["exposedCommunicationSeconds"], 0.2, 1e-12);
  EXPECT_DOUBLE_EQ(run["progressCpuSeconds"], 0.02);
  EXPECT_EQ(run["bytes"]["inter"]["halo"], 200);
  EXPECT_EQ(run["bytes"]["intra"]["gradient"], 40);
  EXPECT_EQ(run["peakMemoryBytes"].size(), 2U);
  EXPECT_EQ(run["test"], 0.7);
  EXPECT_EQ(run["rounds"].size(), 3U);
  const Json here = parse_json(to_json(StrategyBench{.rows = compare_strategies(runs)}));
  EXPECT_TRUE(here["link"].is_null() && here["rig"].is_null() && !here.contains("commShare"));
}

}  // namespace
}  // namespace atl
