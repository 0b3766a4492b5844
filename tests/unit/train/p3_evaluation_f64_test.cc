// Exact inference of strategy `p3`, whose first layer is computed by columns: every vertex has the logits of
// `minibatch` on one rank, however ranks hold columns, whoever reads arcs, in slabs of any size.
#include <gtest/gtest.h>

#include <map>
#include <mutex>

#include "train/small_job.h"
#include "train/strategy_jobs.h"

namespace atl {
namespace {

constexpr int kEpochs = 2;
// Adam's step has a length of one even where the gradient is nothing but rounding, which differs with the
// ranks.
const std::string kSgd = "training.optimizer.kind=sgd";

/// By vertex: of all ranks.
using Logits = std::map<VertexId, std::vector<Real>>;

Logits infer(const Job& job, const std::filesystem::path& data) {
  Logits all;
  std::mutex lock;  // guards it
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    for (int epoch = 1; epoch <= kEpochs; ++epoch) rank.trainer->train_epoch(epoch, 0.01);
    const ConstMatrixView logits = rank.trainer->inference().infer();
    const auto ids = rank.data.owned_ids();
    const std::lock_guard guard(lock);
    for (Index r = 0; r < logits.rows; ++r)
      all[ids[std::size_t(r)]].assign(logits.row(r), logits.row(r) + logits.cols);
  });
  return all;
}

void expect_same(const Logits& one, const Logits& many, const std::string& what) {
  ASSERT_EQ(one.size(), many.size()) << what;
  for (const auto& [vertex, logits] : one)
    for (std::size_t c = 0; c < logits.size(); ++c)
      ASSERT_NEAR(many.at(vertex)[c], logits[c], 1e-9) << what << ", vertex " << vertex;
}

class P3Evaluation : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  TemporaryFolder folder_;
};

TEST_P(P3Evaluation, GivesTheLogitsOfMiniBatches) {
  const Logits one = infer(batches_of("minibatch", GetParam(), 1, "", {kSgd}), folder_ / "small");
  for (const auto& [ranks, options, memory] :
       {std::tuple{2, "columns: rank", "1Gi"}, std::tuple{3, "columns: rank", "20Ki"},
        std::tuple{3, "columns: rank, structure: mapped", "20Ki"},
        std::tuple{4, "columns: rank, copies: 2", "20Ki"},
        std::tuple{4, "columns: rank, copies: 2, structure: mapped", "1Gi"},
        std::tuple{2, "copies: 2", "20Ki"}}) {
    const std::string what = fmt::format("{} ranks, {}, {}", ranks, options, memory);
    const Logits many =
        infer(batches_of("p3", GetParam(), ranks, options,
                         {fmt::format("resources.memory={}", memory), "placement.ranksPerServer=1", kSgd}),
              folder_ / "small");
    expect_same(one, many, what);
  }
}

INSTANTIATE_TEST_SUITE_P(Models, P3Evaluation, testing::ValuesIn(every_model_by_columns()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(FirstLayers, P3Evaluation, testing::ValuesIn(first_layers()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
