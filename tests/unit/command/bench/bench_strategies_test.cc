// The input of `atoll bench strategies`: the list of strategies, and the rig in the environment.
#include <gmock/gmock.h>

#include <cstdlib>

#include "base/error.h"
#include "command/bench/cells.h"
#include "command/commands.h"
#include "dataset/source_files.h"
#include "job/load.h"
#include "job/strategies.h"

namespace atl {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kManifest =
    "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: x}\nspec:\n"
    "  dataset: {synthetic: {kind: community, vertices: 200, averageDegree: 6, features: 4, classes: 2}}\n"
    "  model: {kind: gcn}\n  strategy: {kind: pipegcn, pipegcn: {decay: 0.5}}\n";

Job job_under(const std::string& list, std::size_t entry) {
  return parse_job(kManifest, "x.yaml", {read_strategy_list(list).at(entry).change}).job;
}

TEST(StrategyList, EachEntryStandsForItselfWhateverTheManifestSays) {
  const std::string list = "graph:overlap=false,pipegcn,pipegcn:smoothing=both:decay=0.9,graph:wire=float32";
  ASSERT_EQ(read_strategy_list(list).size(), 4U);
  EXPECT_EQ(read_strategy_list(list)[2].label, "pipegcn:smoothing=both:decay=0.9");
  EXPECT_EQ(job_under(list, 0).strategy.row->kind, "graph");
  EXPECT_FALSE(job_under(list, 0).strategy.options.flag("overlap"));
  EXPECT_EQ(job_under(list, 1).strategy.options.number("decay"), 0.95);
  EXPECT_EQ(job_under(list, 2).strategy.options.text("smoothing"), "both");
  EXPECT_EQ(job_under(list, 2).strategy.options.number("decay"), 0.9);
  EXPECT_TRUE(job_under(list, 3).strategy.options.flag("overlap"));
}

TEST(StrategyList, AnOptionMayBeAList) {
  EXPECT_EQ(read_strategy_list("gnnpipe:layers=[1,2]:chunks=8,graph")[0].change,
            "strategy={kind: gnnpipe, gnnpipe: {layers: [1,2], chunks: 8}}");
  EXPECT_EQ(read_strategy_list("graph,gnnpipe:layers=[1,2]").size(), 2U);
}

TEST(StrategyList, AnUnknownOptionIsToldBesideTheKindsOwn) {
  EXPECT_THAT([] { job_under("graph:overlp=false", 0); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("strategy.graph.overlp: unknown field (did you mean overlap?")));
}

TEST(StrategyList, WhatIsNoEntryIsRefused) {
  for (const char* list :
       {"", "graph,", ",graph", ":overlap=false", "graph:overlap", "graph:=1", "graph:overlap="})
    EXPECT_THROW(read_strategy_list(list), Error) << list;
  EXPECT_THAT([] { read_strategy_list("graph,pipegnc"); },
              testing::ThrowsMessage<Error>(
                  HasSubstr("--strategies: 'pipegnc' is unknown (did you mean pipegcn? known: graph, ")));
  EXPECT_THROW(job_under("graph:smoothing=both", 0), Error);
}

/// A manifest whose rate warms up for longer than a share is measured was refused by its own rules.
TEST(FewEpochs, AreAManifestsWhateverItTakesTime) {
  for (const std::vector<std::string>& own :
       {std::vector<std::string>{"training.epochs=200",
                                 "training.learningRateSchedule={kind: cosine, warmupEpochs: 20}",
                                 "training.earlyStopping={patience: 30}", "training.evaluateEvery=15"},
        std::vector<std::string>{"training.epochs=3"}}) {
    std::vector<std::string> all = own;
    const std::vector<std::string> few = few_epochs(parse_job(kManifest, "x.yaml", own).job);
    all.insert(all.end(), few.begin(), few.end());
    const TrainingSpec training = parse_job(kManifest, "x.yaml", all).job.training;
    EXPECT_LE(training.epochs, 10);
    EXPECT_EQ(training.evaluate_every, training.epochs) << "after what is timed";
  }
}

TEST(Links, RatesAreReadAndWrittenAsTcDoes) {
  EXPECT_EQ(link_bits("850mbit"), 850e6);
  EXPECT_EQ(link_bits("2.5gbit"), 2.5e9);
  EXPECT_EQ(link_rate(850e6), "850mbit");
  EXPECT_EQ(link_rate(1e9), "1gbit");
  EXPECT_EQ(link_rate(2.5e9), "2500mbit");
  EXPECT_EQ(link_rate(123'456'789), "123500kbit");
  EXPECT_EQ(link_rate(0.5), "1bit");
  for (const char* word : {"", "fast", "10", "-1mbit", "10mbyte"})
    EXPECT_THROW(link_bits(word), Error) << word;
}

/// Sets variables of the environment for one test.
class RigTest : public testing::Test {
 protected:
  RigTest() { clear(); }
  ~RigTest() override { clear(); }
  static void clear() { unsetenv("ATOLL_RIG"), unsetenv("ATOLL_RIG_LINK"); }
  TemporaryFolder folder_;
};

TEST_F(RigTest, WithoutOneTheMachineIsAsItIs) {
  const Rig rig = Rig::from_environment();
  EXPECT_EQ(rig.description() + rig.link(), "");
  EXPECT_FALSE(rig.can_shape());
}

TEST_F(RigTest, ItsProgramIsToldTheRate) {
  const std::string program = folder_ / "reshape";
  write_text(program, "#!/bin/sh\necho \"$1\" >" + (folder_ / "rate").string() + "\n[ \"$1\" != 13mbit ]\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  setenv("ATOLL_RIG", R"({"servers":2,"link":"1gbit"})", 1);
  setenv("ATOLL_RIG_LINK", program.c_str(), 1);
  Rig rig = Rig::from_environment();
  EXPECT_EQ(rig.link(), "1gbit");
  rig.set_rate(850e6);
  EXPECT_EQ(rig.link(), "850mbit");
  EXPECT_EQ(read_bytes(folder_ / "rate"), "850mbit\n");
  EXPECT_THROW(rig.set_rate(13e6), Error);
  setenv("ATOLL_RIG", "2 servers", 1);
  EXPECT_THROW(Rig::from_environment(), Error);
}

/// With a checkpoint behind each epoch no epoch could be timed, as was told when all rounds had run.
TEST_F(RigTest, ACellsEpochsCanBeTimed) {
  write_text(folder_ / "job.yaml", kManifest);
  Arguments arguments;
  arguments.add("--file", folder_ / "job.yaml");
  const auto cell = [&](const char* change, const char* strategy) {
    Arguments changed = arguments;
    changed.add("--set", change);
    return bench_cell(changed, read_strategy_list(strategy).front());
  };
  const auto as_run = [](const char* change, const BenchCell& made) {
    std::vector<std::string> changes{change};
    changes.insert(changes.end(), made.changes.begin(), made.changes.end());
    return parse_job(kManifest, "x.yaml", changes).job.training;
  };
  const BenchCell often = cell("training.checkpoint={every: 1}", "graph");
  EXPECT_EQ(as_run("training.checkpoint={every: 1}", often).checkpoint.every, 5);
  EXPECT_EQ(often.job.training, as_run("training.checkpoint={every: 1}", often));
  EXPECT_THAT(often.said, AllOf(HasSubstr("evaluated every 5 epochs instead of 1"),
                                HasSubstr("checkpoints every 5 epochs instead of 1")));
  const char* const within = "training.checkpoint={every: 0, everySteps: 3}";
  const BenchCell steps = cell(within, "minibatch");
  EXPECT_EQ(as_run(within, steps).checkpoint.every_steps, 0);
  EXPECT_EQ(as_run(within, steps).checkpoint.every, 0);
  EXPECT_THAT(steps.said, HasSubstr("no checkpoints within epochs"));
  const char* const rarely = "training={evaluateEvery: 7, checkpoint: {every: 50}}";
  EXPECT_EQ(cell(rarely, "graph").said, "");
}

TEST(BenchStrategies, TakesNoChangesOfTheStrategyItself) {
  for (const char* change : {"strategy.wire=bfloat16", "strategy={kind: graph}"}) {
    Arguments arguments;
    arguments.add("--strategies", "graph");
    arguments.add("--set", change);
    try {
      bench_strategies_command().run(arguments);
      FAIL() << "was run";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), AllOf(HasSubstr(change), HasSubstr("pipegcn:wire=bfloat16")));
    }
  }
}

/// They were looked at when graphs had been prepared and kernels timed.
TEST(Bench, RefusesItsOptionsBeforeItMeasures) {
  const auto refused = [](const Command& command, const char* option, const char* value) {
    Arguments arguments;
    arguments.add("--file", "absent.yaml");
    arguments.add("DATASET", "absent");
    arguments.add("--strategies", "graph");
    arguments.add(option, value);
    return error_of([&] { command.run(arguments); });
  };
  EXPECT_THAT(refused(bench_strategies_command(), "--rounds", "0"),
              HasSubstr("--rounds: '0' is not allowed"));
  EXPECT_THAT(refused(bench_strategies_command(), "--timeout", "x"),
              HasSubstr("--timeout: 'x' is not allowed"));
  EXPECT_THAT(refused(bench_ops_command(), "--columns", "64,100"),
              HasSubstr("--columns 100: is not a multiple of --heads 8"));
}

TEST_F(RigTest, AShareOfCommunicationNeedsOne) {
  write_text(folder_ / "job.yaml", kManifest);
  Arguments arguments;
  arguments.add("--file", folder_ / "job.yaml");
  arguments.add("--strategies", "graph");
  arguments.add("--comm-share", "0.66");
  try {
    bench_strategies_command().run(arguments);
    FAIL() << "was run";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("tests/rig/run"));
  }
}

}  // namespace
}  // namespace atl
