// A run under dgs reports only explanations that applied: no vertices or columns if it ended before masks
// applied, and none of a kind that isn't drawn by masks.
#include <gtest/gtest.h>

#include "strategies/dgs/figures.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

ExplainedFigures figures_of(int epochs, const std::vector<std::string>& options) {
  TemporaryFolder folder;
  const SmallCase c{"gcn", {}, {.vertices = 120, .features = 10}};
  write_small_data(folder / "small", c.data);
  std::vector<std::string> more = options;
  more.push_back("training.epochs=" + std::to_string(epochs));
  const Job job = dgs_job(c, 2, more);
  ExplainedFigures figures;
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    for (Index epoch = 1; epoch <= epochs; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    if (comm.rank() == 0) figures = rank.trainer->figures<ExplainedFigures>().value();
  });
  return figures;
}

const std::vector<std::string> kEvery{"strategy.dgs.explainEvery=8", "strategy.dgs.featureRate=0.5"};

TEST(ExplainedRun, ThatIsTooShortNamesNothing) {
  const ExplainedFigures figures = figures_of(1, kEvery);
  EXPECT_EQ(figures.chosen, figures.features) << "all were fetched";
  EXPECT_TRUE(figures.vertices.empty() && figures.columns.empty());
  EXPECT_EQ(figures.epochs, 0);
}

TEST(ExplainedRun, NamesWhatMasksChose) {
  const ExplainedFigures both = figures_of(6, kEvery);
  EXPECT_FALSE(both.vertices.empty() || both.columns.empty());
  EXPECT_EQ(both.chosen, 5);
  const auto with = [&](const std::string& more) {
    std::vector<std::string> options = kEvery;
    options.push_back(more);
    return figures_of(6, options);
  };
  EXPECT_TRUE(with("strategy.dgs.features=random").columns.empty());
  EXPECT_FALSE(with("strategy.dgs.features=random").vertices.empty());
  EXPECT_TRUE(with("strategy.dgs.vertices=random").vertices.empty());
  EXPECT_TRUE(with("strategy.dgs.featureRate=1").columns.empty());
}

}  // namespace
}  // namespace atl
