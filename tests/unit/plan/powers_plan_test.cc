// What a plan says of SIGN's powers. While they are made, the features, and the powers of every graph that
// the rank computes on, are in memory together.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/text.h"
#include "plan/job_plan.h"
#include "plan/strategy_plan.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kRanks = 2, kHops = 3;
constexpr Index kFeatures = 50;

class PlannedPowers : public testing::TestWithParam<SmallCase> {};

/// Rows are counted in the parts that a run cuts out.
TEST_P(PlannedPowers, AreInMemoryBesideTheFeatures) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = kFeatures});
  std::vector<std::string> fields{"model.kind=sign", fmt::format("model.options={{hops: {}}}", kHops),
                                  fmt::format("placement.ranks={}", kRanks)};
  fields.insert(fields.end(), GetParam().fields.begin(), GetParam().fields.end());
  const Job job = small_job(fields);
  std::vector<Index> read(kRanks), computed(kRanks);  // rows of features, and of powers
  run_ranks(kRanks, [&](Communicator& comm) {
    const SmallRank rank(comm, job, folder / "small", 1);
    const auto add = [&, at = std::size_t(comm.rank())](const GraphPart& part) {
      read[at] += part.graph->owned + part.graph->halo;
      computed[at] += part.graph->owned;
    };
    add(rank.data.part());
    if (rank.data.has_training_part()) add(rank.data.training_part());
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::open(dataset, partition_options(job, kRanks), graph_transforms(job),
                                            training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
  const bool in_halves = job.training.precision == Precision::kBFloat16;
  const auto value = Index(in_halves ? sizeof(Bfloat16) : sizeof(Real));
  for (const RankPlan& rank : plan.ranks) {
    SCOPED_TRACE(rank.shape.rank);
    const auto at = std::size_t(rank.shape.rank);
    Index held = 0;  // besides: what the rank has read and made before
    for (const MemoryItem& item : rank.memory.items)
      for (const char* name : {"program and libraries", "MPI", "graph", "labels and splits", "halo rows",
                               "parameters and moments"})
        if (item.name == name) held += item.bytes;
    EXPECT_EQ(rank.memory.released, value * read[at] * kFeatures);
    EXPECT_EQ(rank.memory.loading,
              held + rank.memory.released + value * computed[at] * (kHops + 1) * kFeatures);
  }
}

Index most_in_files(const JobPlan& plan) {
  return std::ranges::max(plan.ranks, {}, [](const RankPlan& rank) { return rank.memory.file; }).memory.file;
}

/// Of batches that read no neighbours: in a file they take no memory, and the plan says how large it is.
TEST(PlannedPowersOfBatches, InAFileTakeNoMemory) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = kFeatures});
  const Dataset dataset = Dataset::open(folder / "small");
  for (const std::string setting : {"transductive", "inductive"}) {
    const auto job_of = [&](const std::string& where) {
      return small_job({"model.kind=sign", fmt::format("model.options={{hops: {}}}", kHops),
                        "training.setting=" + setting, "strategy.kind=minibatch",
                        "strategy.minibatch={sampler: none" + where + "}",
                        fmt::format("placement.ranks={}", kRanks), "placement.partitioner=hash"});
    };
    const Job in_memory = job_of(""), in_file = job_of(", sumsFolder: /scratch");
    const PlanOptions options{1, {1e9, 1e9, 1e9}, 1e9};
    const JobPlan held = plan_job(in_memory, dataset, options), filed = plan_job(in_file, dataset, options);
    const Index row = (setting == "inductive" ? 2 : 1) * (kHops + 1) * kFeatures * Index(sizeof(Real));
    for (std::size_t rank = 0; rank < std::size_t(kRanks); ++rank) {
      const RankMemory &memory = held.ranks[rank].memory, &file = filed.ranks[rank].memory;
      EXPECT_EQ(memory.file, 0);
      EXPECT_EQ(file.file, row * filed.ranks[rank].shape.owned);
      EXPECT_EQ(memory.training - file.training, file.file);
      EXPECT_EQ(memory.passes - file.passes, file.file);
      EXPECT_GT(memory.loading, file.loading);
    }
    EXPECT_THAT(held.section->memory_advice(),
                testing::AllOf(testing::HasSubstr("; or strategy.minibatch.sumsFolder"),
                               testing::HasSubstr(bytes_text(double(most_in_files(filed))))));
    EXPECT_EQ(filed.section, nullptr) << "it is in use";
    EXPECT_THAT(to_text(filed, in_file), testing::HasSubstr("sums in a file"));
    EXPECT_THAT(to_text(held, in_memory), testing::Not(testing::HasSubstr("sums in a file")));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Jobs, PlannedPowers,
    testing::Values(SmallCase{"transductive", {}}, SmallCase{"inductive", {"training.setting=inductive"}},
                    SmallCase{"inductive_in_halves",
                              {"training.setting=inductive", "training.precision=bfloat16"}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
