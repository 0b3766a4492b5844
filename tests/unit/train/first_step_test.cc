// In float32, the precision that users train in: every gradient of the first step on 2, 3 and 4 ranks is that of one rank
// to 1e-5 of the largest. (Over many steps float32 proves nothing: Adam near zero amplifies rounding.)
#include <gtest/gtest.h>

#include "train/small_job.h"

namespace atl {
namespace {

/// The whole gradient, summed over ranks, of a first step of `job`.
std::vector<Real> first_gradient(const Job& job, const std::filesystem::path& dataset, int ranks) {
  std::vector<Real> gradient;
  run_ranks(ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, dataset, 1);
    RankData fresh(job, rank.dataset, rank.prepared, comm.rank());  // the trainer has released its features
    const Model& model = rank.trainer->model();
    Parameters parameters(model.parameters(), job.training.seed);
    auto schedule = make_schedule({rank.ctx, comm, job, model, parameters, fresh.training_part(),
                                   rank.data.training_vertices(), false});
    LossOnly step(rank.ctx, job, fresh);
    schedule->train_epoch(1, step);
    comm.all_reduce(Traffic::kGradient, parameters.gradients());
    if (comm.rank() == 0) gradient.assign(parameters.gradients().begin(), parameters.gradients().end());
  });
  return gradient;
}

class FirstStep : public testing::TestWithParam<const char*> {};

TEST_P(FirstStep, GradientsDontDependOnRanks) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 300, .features = 24, .arc_share = 0.03});
  for (const char* norm : {"none", "batch"}) {
    const Job job = small_job({fmt::format("model.kind={}", GetParam()), fmt::format("model.norm={}", norm),
                               "model.hidden=32", "training.inputDropout={rate: 0.3}"});
    const std::vector<Real> one = first_gradient(job, folder / "small", 1);
    double largest = 0;
    for (const Real g : one) largest = std::max(largest, std::abs(double(g)));
    ASSERT_GT(largest, 0);
    for (const int ranks : {2, 3, 4}) {
      const std::vector<Real> many = first_gradient(job, folder / "small", ranks);
      ASSERT_EQ(one.size(), many.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_NEAR(one[i], many[i], 1e-5 * largest)
            << ranks << " ranks, norm " << norm << ", parameter " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Models, FirstStep, testing::Values("gcn", "sage", "gat", "gcnii", "resgcn"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace atl
