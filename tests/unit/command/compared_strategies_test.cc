// What a comparison says of a job's strategies, beside what a run of each does.
#include "command/compare.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "command/commands.h"
#include "command/run/job_room.h"
#include "command/run/plan.h"
#include "job/strategies.h"
#include "train/small_job.h"

namespace atl {
namespace {

using testing::HasSubstr;

class ComparedStrategies : public testing::Test {
 protected:
  ComparedStrategies() {
    write_small_data(folder_ / "small", {.vertices = 400, .edges = true});
    write_bytes(folder_ / "job.yaml",
                "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\nmetadata: {name: small}\nspec:\n"
                "  dataset: {name: small}\n  model: {kind: sage, layers: 2, hidden: 8}\n");
  }

  Arguments arguments(const std::vector<std::string>& fields) const {
    Arguments a;
    a.add("--file", folder_ / "job.yaml");
    a.add("--data-root", folder_.path());
    for (const std::string& field : fields) a.add("--set", field);
    return a;
  }
  Dataset dataset() const { return Dataset::open(folder_ / "small"); }
  Comparison compared(const std::vector<std::string>& fields, bool on_gpus = false) const {
    const Arguments a = arguments(fields);
    return compare_strategies(a, load_job_of(a, say), dataset(),
                              {.rates = MachineRates{1e9, 1e9, 1e9}, .on_gpus = on_gpus}, say);
  }
  static const ComparedStrategy& row(const Comparison& comparison, const std::string& label) {
    return *std::ranges::find(comparison.rows, label, &ComparedStrategy::label);
  }
  static void say(const std::string&) {}

  TemporaryFolder folder_;
};

/// Pages of files, and what is only read once while results are written, don't keep a run from training. Auto
/// refused every strategy for want of room for them.
TEST_F(ComparedStrategies, HaveTheMemoryThatARunOfThemNeeds) {
  const LoadedJob job = load_job_of(arguments({}), say);
  const JobPlan plan = memory_plan(job.job, dataset(), prepare_graph(job, dataset(), say), 1);
  const Index held = plan.ranks[0].memory.held();
  const auto graph = [&](Index memory) {
    return row(compared({"resources.memory=" + std::to_string(memory)}), "graph");
  };
  const ComparedStrategy with_room = graph(held);
  EXPECT_GT(with_room.forecast.peak, held) << "the case must show something";
  EXPECT_EQ(with_room.refused, "");
  EXPECT_THAT(graph(held / 2).refused, HasSubstr("a rank, and resources.memory is"));
}

/// On GPUs resources.memory holds what the host keeps, and --device says what a run is on. By the CPU's sums,
/// auto found no strategy for a job that runs under each; by nvidia.com/gpu, one that the run then refused.
TEST_F(ComparedStrategies, HaveTheMemoryOfWhatARunOfThemIsOn) {
  const std::string hidden = "model.hidden=16384";  // nearly all memory is the passes'
  const LoadedJob wide = load_job_of(arguments({hidden}), say);
  const JobPlan plan = memory_plan(wide.job, dataset(), prepare_graph(wide, dataset(), say), 1);
  const RankMemory& memory = plan.ranks[0].memory;
  const Index given = memory.beside_gpu * 6 / 5;
  ASSERT_LT(given, memory.held() / 2) << "the case must show something";
  const auto with_gpus = [&](int gpus) {
    return fmt::format("resources={{memory: {}, nvidia.com/gpu: {}}}", given, gpus);
  };
  EXPECT_THAT(row(compared({hidden, with_gpus(0)}), "graph").refused,
              HasSubstr("a rank, and resources.memory is"));
  EXPECT_EQ(row(compared({hidden, with_gpus(0)}, true), "graph").refused, "");

  const auto plan_on = [&](const char* device, int gpus) {
    Arguments a = arguments({hidden, with_gpus(gpus), "strategy.kind=auto"});
    a.add("--device", device);
    a.add("--output", folder_ / device);
    a.add("--threads", "1");
    plan_run(a, say);
  };
  EXPECT_NO_THROW(plan_on("cuda", 0));
  EXPECT_THAT(error_of([&] { plan_on("cpu", 1); }), HasSubstr("none of the exact strategies can be chosen"));
}

/// A plan under auto chose by this machine's rates, and by the manifest's link, whatever it was to be for:
/// plan --compare named another strategy as the best one.
TEST_F(ComparedStrategies, AreChosenForWhatAPlanIsFor) {
  const auto chosen = [&](const char* option, const char* value) {
    Arguments a = arguments({"strategy.kind=auto", "placement={ranks: 2, ranksPerServer: 1}"});
    for (const auto& [name, given] : {std::pair("--rates", "100,100,1000"), std::pair("--link", "100"),
                                      std::pair(option, value)})  // the last one counts
      a.add(name, given);
    testing::internal::CaptureStdout(), testing::internal::CaptureStderr();
    EXPECT_EQ(plan_command().run(a), 0);
    testing::internal::GetCapturedStdout();
    const std::string said = testing::internal::GetCapturedStderr(), words = "strategy auto is ";
    const std::size_t at = said.find(words);
    return at == std::string::npos ? said : said.substr(at + words.size(), 8);
  };
  EXPECT_EQ(chosen("--link", "0.00001"), "granndis") << "copies spare messages";
  EXPECT_NE(chosen("--rates", "0.001,0.001,0.001"), "granndis") << "copies are computed, too";
}

/// On GPUs computing is so much shorter that messages decide. A cluster refuses such a job.
TEST_F(ComparedStrategies, AreSaidToBeComparedByProcessorsWhereRanksTrainOnGpus) {
  static std::string said;
  for (const char* device : {"cuda", "cpu"}) {
    Arguments a = arguments({"strategy.kind=auto"});
    a.add("--device", device);
    a.add("--output", folder_ / device);
    said.clear();
    plan_run(a, [](const std::string& line) { said += line + "\n"; });
    EXPECT_THAT(said, HasSubstr("strategy auto is "));
    EXPECT_EQ(said.find("compares strategies by this machine's processors") != std::string::npos,
              device == std::string("cuda"))
        << said;
  }
}

/// A loss of power can leave a manifest empty. The run that was to go on ended by a signal.
TEST_F(ComparedStrategies, OfARunWhoseManifestIsDamagedAreRefused) {
  const Arguments a = arguments({"strategy.kind=auto"});
  const LoadedJob given = load_job_of(a, say);
  for (const char* text : {"", "apiVersion: atoll.dev/v1alpha1\nkind: GNNJob\n", "nothing"}) {
    write_bytes(folder_ / "before.yaml", text);
    EXPECT_THAT(error_of([&] { chosen_before(a, given, folder_ / "before.yaml", say); }),
                HasSubstr("before.yaml"))
        << text;
  }
  EXPECT_THAT(error_of([&] { chosen_before(a, given, folder_ / "absent.yaml", say); }),
              HasSubstr("absent.yaml: can't be read"));
  EXPECT_EQ(chosen_before(a, given, folder_ / "job.yaml", say).job.strategy.row->kind, "graph");
}

}  // namespace
}  // namespace atl
