// In float32, the precision that users train in: every gradient of the first step on 2, 3 and 4 ranks, under
// graph, cagnet and bns with all rows, is that of one rank to 1e-5 of the largest. (Over many steps float32
// proves nothing: Adam near zero amplifies rounding.)
#include <gtest/gtest.h>

#include "train/every_model.h"

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
    schedule->train(1, step);
    comm.all_reduce(Traffic::kGradient, parameters.gradients());
    if (comm.rank() == 0) gradient.assign(parameters.gradients().begin(), parameters.gradients().end());
  });
  return gradient;
}

/// A model, the strategy of many ranks, and how many.
struct FirstStepCase {
  SmallCase model;
  std::vector<std::string> strategy = {};
  std::vector<int> ranks = {2, 3, 4};
};

std::ostream& operator<<(std::ostream& out, const FirstStepCase& c) {
  return out << c.model;
}

class FirstStep : public testing::TestWithParam<FirstStepCase> {};

TEST_P(FirstStep, GradientsDontDependOnRanks) {
  TemporaryFolder folder;
  SmallData data = GetParam().model.data;
  data.vertices = 300, data.features = 24, data.arc_share = 0.03;
  write_small_data(folder / "small", data);
  for (const char* norm : {"none", "batch"}) {
    std::vector<std::string> fields = GetParam().model.fields;
    fields.insert(fields.end(),
                  {fmt::format("model.norm={}", norm), "model.hidden=32", "training.inputDropout.rate=0.3"});
    const std::vector<Real> one = first_gradient(small_job(fields), folder / "small", 1);
    double largest = 0;
    for (const Real g : one) largest = std::max(largest, std::abs(double(g)));
    ASSERT_GT(largest, 0);
    fields.insert(fields.end(), GetParam().strategy.begin(), GetParam().strategy.end());
    const Job job = small_job(fields);
    for (const int ranks : GetParam().ranks) {
      const std::vector<Real> many = first_gradient(job, folder / "small", ranks);
      ASSERT_EQ(one.size(), many.size());
      for (std::size_t i = 0; i < one.size(); ++i) {
        ASSERT_NEAR(one[i], many[i], 1e-5 * largest)
            << ranks << " ranks, norm " << norm << ", parameter " << i;
      }
    }
  }
}

std::vector<FirstStepCase> under_graph() {
  std::vector<FirstStepCase> all;
  for (const auto& [name, fields, data] : every_model()) {
    all.push_back({{name, fields}});
    all.push_back({{name + "_weighted", fields, {.weighted = true}}});
    all.push_back({{name + "_sparse", fields, {.density = 0.15}}});
    all.push_back({{name + "_bits", fields, kBitData}});
  }
  return all;
}

std::vector<FirstStepCase> under_others() {
  std::vector<FirstStepCase> all;
  for (const auto& [name, fields, data] : every_model()) {
    const std::vector<std::string> cagnet{"strategy.kind=cagnet"},
        grid{"strategy.kind=cagnet", "strategy.cagnet={replication: 2}", "placement.ranks=4"},
        bns{"strategy.kind=bns", "strategy.bns={rate: 1}"};
    all.push_back({{name + "_cagnet", fields}, cagnet});
    all.push_back({{name + "_grid", fields}, grid, {4}});
    all.push_back({{name + "_bns", fields}, bns});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, FirstStep, testing::ValuesIn(under_graph()),
                         [](const auto& each) { return each.param.model.name; });
INSTANTIATE_TEST_SUITE_P(Strategies, FirstStep, testing::ValuesIn(under_others()),
                         [](const auto& each) { return each.param.model.name; });

}  // namespace
}  // namespace atl
