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

class FirstStep : public testing::TestWithParam<SmallCase> {};

TEST_P(FirstStep, GradientsDontDependOnRanks) {
  TemporaryFolder folder;
  SmallData data = GetParam().data;
  data.vertices = 300, data.features = 24, data.arc_share = 0.03;
  write_small_data(folder / "small", data);
  for (const char* norm : {"none", "batch"}) {
    std::vector<std::string> fields = GetParam().fields;
    fields.insert(fields.end(), {fmt::format("model.norm={}", norm), "model.hidden=32",
                                 "training.inputDropout={rate: 0.3}"});
    const Job job = small_job(fields);
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

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all;
  const std::vector<std::pair<std::string, std::string>> models = {
      {"gcn", ""},
      {"sage", ""},
      {"gat", ""},
      {"gcnii", ""},
      {"resgcn", "model.options={aggregator: mean}"},
      {"resgcn", "model.options={aggregator: softmax}"},
      {"sgc", ""},
  };
  for (const auto& [kind, options] : models) {
    std::vector<std::string> fields{"model.kind=" + kind};
    if (!options.empty()) fields.push_back(options);
    const std::string name = kind + (options.find("softmax") != std::string::npos ? "_softmax" : "");
    all.push_back({name, fields});
    all.push_back({name + "_weighted", fields, {.weighted = true}});
    all.push_back({name + "_sparse", fields, {.density = 0.15}});
    all.push_back({name + "_bits", fields, kBitData});
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, FirstStep, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
