// A stage of gnnpipe has all its ranks on one server, whatever ranksPerServer says; where that is impossible
// the job is refused with numbers that fit.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>

#include "base/error.h"
#include "job/load.h"
#include "job/valid_manifest.h"
#include "strategies/gnnpipe/info.h"

namespace atl {
namespace {

/// stages 0: by default. layers 0: an sgc, whose one layer makes one stage.
Job pipeline(int layers, int ranks, int together, int stages) {
  return parse_job(kValidManifest, "m.yaml",
                   {fmt::format("strategy={{kind: gnnpipe, gnnpipe: {{stages: {}}}}}", stages),
                    layers == 0 ? "model={kind: sgc}" : fmt::format("model.layers={}", layers),
                    fmt::format("placement={{ranks: {}, ranksPerServer: {}}}", ranks, together)})
      .job;
}

bool lie_on_one_server(const Job& job, int together) {
  const PipelineGrid grid = pipeline_grid(job);
  for (int stage = 0; stage < grid.stages; ++stage)
    if (grid.rank_of(stage, 0) / together != grid.rank_of(stage, grid.parts - 1) / together) return false;
  return true;
}

/// Of "(use 2 or 6 stages, or ranksPerServer 6 or 12)", those before or behind "ranksPerServer".
std::vector<int> numbers(const std::string& text) {
  std::vector<int> all;
  const std::regex number("[0-9]+");
  for (auto each = std::sregex_iterator(text.begin(), text.end(), number); each != std::sregex_iterator();
       ++each)
    all.push_back(std::stoi(each->str()));
  return all;
}

TEST(StagesOnServers, LieOnOneEachOrAreRefusedWithNumbersThatFit) {
  int refused = 0, accepted = 0;
  for (int ranks = 1; ranks <= 12; ++ranks)
    for (int together = 1; together <= ranks; ++together)
      for (int stages = 0; stages <= ranks; ++stages) {
        constexpr int kLayers = 6;
        if (ranks % together != 0 || (stages > 0 && ranks % stages != 0) || stages > kLayers) continue;
        SCOPED_TRACE(fmt::format("{} ranks, {} a server, {} stages", ranks, together, stages));
        std::string told;
        try {
          EXPECT_TRUE(lie_on_one_server(pipeline(kLayers, ranks, together, stages), together));
          ++accepted;
          continue;
        } catch (const Error& error) {
          told = error.what();
        }
        ++refused;
        const std::string use = told.substr(told.rfind("(use "));
        const auto servers = use.find("ranksPerServer");
        ASSERT_NE(servers, std::string::npos) << told;
        for (const int other : numbers(use.substr(0, servers)))
          EXPECT_NO_THROW(pipeline(kLayers, ranks, together, other)) << told;
        const std::vector<int> others = numbers(use.substr(servers));
        EXPECT_FALSE(others.empty()) << told;
        for (const int other : others) EXPECT_NO_THROW(pipeline(kLayers, ranks, other, stages)) << told;
      }
  EXPECT_GT(refused, 20);
  EXPECT_GT(accepted, 60);
}

/// A default is refused where no number of stages fits, and nowhere else; what is told to use then fits.
TEST(StagesOnServers, ByDefaultAreRefusedOnlyWhereNoneFit) {
  int refused = 0, accepted = 0;
  for (const int layers : {0, 1, 2, 3, 4, 6})
    for (int ranks = 1; ranks <= 12; ++ranks)
      for (int together = 1; together <= ranks; ++together) {
        if (ranks % together != 0) continue;
        SCOPED_TRACE(fmt::format("{} layers, {} ranks, {} a server", layers, ranks, together));
        bool any = false;
        for (int stages = 1; stages <= std::max(1, layers); ++stages)
          any = any || (ranks % stages == 0 && together % (ranks / stages) == 0);
        if (any) {
          EXPECT_TRUE(lie_on_one_server(pipeline(layers, ranks, together, 0), together));
          ++accepted;
          continue;
        }
        std::string told;
        try {
          pipeline(layers, ranks, together, 0);
        } catch (const Error& error) {
          told = error.what();
        }
        ++refused;
        const auto use = told.rfind("(use strategy granndis or graph, or ranksPerServer ");
        ASSERT_NE(use, std::string::npos) << told;
        for (const int other : numbers(told.substr(use)))
          EXPECT_NO_THROW(pipeline(layers, ranks, other, 0)) << told;
      }
  EXPECT_GT(refused, 40);
  EXPECT_GT(accepted, 40);
}

/// The field's case: three stages of two ranks on two servers of three.
TEST(StagesOnServers, ByDefaultAreThoseThatFit) {
  EXPECT_EQ(pipeline_grid(pipeline(3, 6, 0, 0)).stages, 3);
  EXPECT_EQ(pipeline_grid(pipeline(3, 6, 3, 0)).stages, 2);
  EXPECT_EQ(pipeline_grid(pipeline(6, 6, 3, 0)).stages, 6);
  EXPECT_EQ(pipeline_grid(pipeline(0, 2, 2, 0)).stages, 1);
  EXPECT_THAT([] { pipeline(3, 6, 3, 3); },
              testing::ThrowsMessage<Error>(testing::HasSubstr(
                  "strategy.gnnpipe.stages: 3 stages of 2 ranks would lie on several servers")));
}

}  // namespace
}  // namespace atl
