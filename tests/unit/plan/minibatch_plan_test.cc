// The plan of mini-batches equals the bytes of a run whose epochs have no more steps than the plan draws;
// also without a prepared graph, where the owners are known.
#include <gmock/gmock.h>

#include <numeric>

#include "plan/job_plan.h"
#include "train/every_model.h"

namespace atl {
namespace {

constexpr int kRanks = 3;
const PlanOptions kOptions{1, {1e9, 1e9, 1e9}, 1e9};

/// The case in batches of 7; the layer nearest to the outputs reads all neighbours, the others two.
Job batch_job(const SmallCase& c, const std::string& partitioner) {
  std::vector<std::string> fields = c.fields;
  fields.insert(fields.end(), {"strategy.kind=minibatch", "strategy.minibatch.batchSize=7",
                               "training.epochs=1", fmt::format("placement.ranks={}", kRanks),
                               fmt::format("placement.partitioner={{kind: {}, parts: 5}}", partitioner)});
  std::string fanout;
  for (int layer = gathering_layers(small_job(fields).model); layer > 1; --layer) fanout += "2, ";
  fields.push_back("strategy.minibatch.fanout=[" + fanout + "-1]");
  return small_job(fields);
}

PreparedGraph prepared_for(const Job& job, const Dataset& dataset) {
  return PreparedGraph::make(dataset, partition_options(job, kRanks), graph_transforms(job),
                             training_marks(dataset, job));
}

class PlannedBatches : public testing::TestWithParam<SmallCase> {};

TEST_P(PlannedBatches, SendWhatARunSends) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Job job = batch_job(GetParam(), "hash");
  std::vector<TrafficBytes> seen(kRanks);
  std::vector<std::int64_t> evaluated(kRanks);  // while batches that are made ahead may travel
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      std::array<double, 4> sums{rank.trainer->train_step(step, 0.01)};
      // As EpochLoop does; the last one's bytes are told in it.
      if (step < rank.trainer->steps()) comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    }
    const Ledger after = comm.ledger();
    for (int p = 0; p < kTraffics; ++p)
      seen[std::size_t(comm.rank())][std::size_t(p)] =
          after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    rank.trainer->evaluate();
    evaluated[std::size_t(comm.rank())] = comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation);
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = prepared_for(job, dataset);
  const JobPlan plan = plan_job(job, dataset, prepared, kOptions);
  ASSERT_EQ(plan.ranks.size(), std::size_t(kRanks));
  for (const RankPlan& rank : plan.ranks) {
    for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
      EXPECT_EQ(rank.epoch[p], seen[std::size_t(rank.shape.rank)][p])
          << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank;
    EXPECT_EQ(rank.evaluation[std::size_t(Traffic::kEvaluation)], evaluated[std::size_t(rank.shape.rank)])
        << "rank " << rank.shape.rank;
    const bool mapped = GetParam().name == "mapped";
    const EvaluationParts& parts = rank.evaluation_parts;
    EXPECT_EQ(std::accumulate(parts.begin(), parts.end(), std::int64_t(0)),
              evaluated[std::size_t(rank.shape.rank)]);
    EXPECT_EQ(parts[std::size_t(EvaluationPart::kStructure)] == 0, mapped);
    EXPECT_GT(parts[std::size_t(EvaluationPart::kRows)], 0);
    EXPECT_GT(rank.epoch[std::size_t(Traffic::kFeatures)], 0);
    EXPECT_GT(rank.memory.passes, 0);
    EXPECT_GT(rank.memory.inference, 0);
    const Index rows = mapped ? prepared.graph().rows : rank.shape.owned;
    const Index arcs = mapped ? prepared.graph().arcs() : rank.shape.own_arcs;
    // Drawing reads rows in the order of ids, exact inference those of the graph.
    const Index times = graph_transforms(job).by_id ? 2 : 1;
    EXPECT_EQ(rank.memory.pages, 8 * (rows + 1) + times * (GetParam().data.weighted ? 8 : 4) * arcs);
    EXPECT_GT(rank.memory.peak(), rank.memory.passes + rank.memory.inference);
  }
}

void expect_same(const RankPlan& a, const RankPlan& b) {
  EXPECT_EQ(a.shape.owned, b.shape.owned);
  EXPECT_EQ(a.shape.own_arcs, b.shape.own_arcs);
  EXPECT_EQ(a.epoch, b.epoch);
  EXPECT_EQ(a.evaluation, b.evaluation);
  EXPECT_EQ(a.memory.passes, b.memory.passes);
  EXPECT_EQ(a.memory.inference, b.memory.inference);
  EXPECT_EQ(a.memory.pages, b.memory.pages);
  EXPECT_EQ(a.memory.peak(), b.memory.peak());
  EXPECT_EQ(a.work.product_flops, b.work.product_flops);
  EXPECT_EQ(a.work.all_gathered(), b.work.all_gathered());
}

TEST_P(PlannedBatches, AreTheRunsWithoutAPreparedGraph) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  const Dataset dataset = Dataset::open(folder / "small");
  for (const char* partitioner : {"hash", "range"}) {
    const Job job = batch_job(GetParam(), partitioner);
    const JobPlan plan = plan_job(job, dataset, kOptions);
    EXPECT_FALSE(std::filesystem::exists(folder / "small/prepared") && partitioner == std::string("hash"));
    const JobPlan prepared = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
    EXPECT_EQ(plan.from, PlannedFrom::kDataset);
    EXPECT_EQ(prepared.from, PlannedFrom::kPrepared);
    for (std::size_t rank = 0; rank < std::size_t(kRanks); ++rank)
      expect_same(plan.ranks[rank], prepared.ranks[rank]);
  }
}

/// Batches that read no neighbours (sampler none).
class PlannedOwnRows : public testing::TestWithParam<SmallCase> {
 protected:
  Job job() const {
    std::vector<std::string> fields{"model.kind=sign",
                                    "model.options={hops: 3}",
                                    "strategy.kind=minibatch",
                                    "strategy.minibatch={sampler: none, batchSize: 7}",
                                    "training.epochs=1",
                                    fmt::format("placement.ranks={}", kRanks),
                                    "placement.partitioner={kind: hash, parts: 5}"};
    fields.insert(fields.end(), GetParam().fields.begin(), GetParam().fields.end());
    return small_job(fields);
  }
};

/// What is planned to be sent and held is what a run sends and holds, but for the room that its memory has
/// above its largest batch.
TEST_P(PlannedOwnRows, SendAndHoldWhatARunDoes) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  std::vector<TrafficBytes> sent(kRanks);
  std::vector<std::int64_t> evaluated(kRanks);
  std::vector<Index> activations(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job(), folder / "small", 1);
    const auto at = std::size_t(comm.rank());
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      std::array<double, 4> sums{rank.trainer->train_step(step, 0.01)};
      if (step < rank.trainer->steps()) comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    }
    for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
      sent[at][p] = comm.ledger().bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    rank.trainer->evaluate();
    evaluated[at] = comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation);
    activations[at] = rank.trainer->bytes().activations;
  });
  const Dataset dataset = Dataset::open(folder / "small");
  for (const JobPlan& plan :
       {plan_job(job(), dataset, prepared_for(job(), dataset), kOptions), plan_job(job(), dataset, kOptions)})
    for (const RankPlan& rank : plan.ranks) {
      const auto at = std::size_t(rank.shape.rank);
      for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
        EXPECT_EQ(rank.epoch[p], sent[at][p]) << traffic_name(Traffic(p)) << ", rank " << at;
      EXPECT_EQ(rank.evaluation[std::size_t(Traffic::kEvaluation)], evaluated[at]) << "rank " << at;
      const auto item = [&](const char* name) {
        return std::ranges::find(rank.memory.items, std::string(name), &MemoryItem::name)->bytes;
      };
      EXPECT_EQ(item("features"), 0);
      EXPECT_NEAR(double(item("activations")) / double(activations[at]), 1, 0.15) << "rank " << at;
      // X and three powers of six columns each, of every graph, while the features are still there.
      const Index graphs = job().training.setting == Setting::kInductive ? 2 : 1;
      EXPECT_GE(rank.memory.loading,
                rank.memory.released + graphs * 4 * 6 * Index(sizeof(Real)) * rank.shape.owned);
    }
}

INSTANTIATE_TEST_SUITE_P(Jobs, PlannedOwnRows,
                         testing::Values(SmallCase{"plain", {}},
                                         SmallCase{"batch_norm", {"model.norm=batch"}},
                                         SmallCase{"mapped", {"strategy.minibatch.structure=mapped"}},
                                         SmallCase{"inductive", {"training.setting=inductive"}},
                                         SmallCase{"sparse", {}, {.density = 0.15}}),
                         [](const auto& each) { return each.param.name; });

/// Of own rows to the byte; of batches that are made ahead, less than in Reals.
TEST(PlannedHalves, AreWhatARankHolds) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const SmallCase sage{"sage", {"model.kind=sage"}},
      in_halves{"sage", {"model.kind=sage", "training.precision=bfloat16"}};
  const Job job = batch_job(in_halves, "hash");
  std::vector<Index> held(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    const SmallRank rank(comm, job, folder / "small", 1);
    const Holding holding = rank.data.held();
    const ConstMatrixView features = holding.batches().features.dense;
    EXPECT_EQ(features.row_bytes(), 6 * Index(sizeof(Bfloat16)));
    held[std::size_t(comm.rank())] = features.rows * features.row_bytes();
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const JobPlan halves = plan_job(job, dataset, kOptions),
                reals = plan_job(batch_job(sage, "hash"), dataset, kOptions);
  const auto item = [](const RankPlan& rank, const std::string& name) {
    return std::ranges::find(rank.memory.items, name, &MemoryItem::name)->bytes;
  };
  for (std::size_t rank = 0; rank < std::size_t(kRanks); ++rank) {
    EXPECT_EQ(item(halves.ranks[rank], "features"), held[rank]);
    EXPECT_EQ(2 * held[rank], item(reals.ranks[rank], "features"));
    EXPECT_LT(item(halves.ranks[rank], "halo rows"), item(reals.ranks[rank], "halo rows"));
  }
}

/// As many rows as others have, if it is larger; and where those are more than the rank's memory, the job is
/// refused.
TEST(PlannedCache, IsCountedAndHeldToTheRanksMemory) {
  TemporaryFolder folder;
  constexpr Index kVertices = 3000, kFeatures = 3000;
  write_small_data(folder / "small", {.vertices = kVertices, .features = kFeatures, .arc_share = 0.001});
  const Dataset dataset = Dataset::open(folder / "small");
  Job job = batch_job({"sage", {"model.kind=sage"}}, "range");
  const Index without = plan_job(job, dataset, kOptions).ranks[0].memory.held();
  job = batch_job({"sage", {"model.kind=sage", "strategy.minibatch.cache.bytes=1000Ti"}}, "range");
  const JobPlan cached = plan_job(job, dataset, kOptions);
  const Index others = kVertices - cached.ranks[0].shape.owned;
  EXPECT_GE(cached.ranks[0].memory.held() - without, others * kFeatures * Index(sizeof(Real)));
  job.resources.memory = without;
  const auto shortfall = shortfall_of_resources(cached, job);
  ASSERT_TRUE(shortfall.has_value());
  EXPECT_TRUE(shortfall->certain);
  EXPECT_THAT(shortfall->text, testing::HasSubstr("is too little: rank"));
}

/// Of 8 × 600 gradients in a step, 7 vertices' few values beside; of 6 features' there is less than of the
/// other layers.
TEST(PlannedGradients, OfWideWeightsAreNamedWhereTheyAreMostOfWhatIsSent) {
  for (const Index features : {600, 6}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {.features = features, .density = features > 6 ? 0.01 : 1});
    const Dataset dataset = Dataset::open(folder / "small");
    const Job job = batch_job({"gcn", {}}, "hash");
    const JobPlan plan = plan_job(job, dataset, kOptions);
    const auto named =
        testing::HasSubstr("are gradients of weights that have a row for each feature: strategy p3");
    if (features == 6) {
      EXPECT_THAT(to_text(plan, job), testing::Not(named));
      continue;
    }
    EXPECT_THAT(to_text(plan, job), named);
    // gcn 600 → 8 → 8 → 3: a first weight, and the others with their biases.
    EXPECT_NEAR(plan.wide_weight, 600 * 8 / (600 * 8 + 8 + 64 + 8 + 24 + 3.0), 1e-9);
  }
}

TEST(AssumedParts, SendMoreThanTheRunsAndSaySo) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 600, .arc_share = 0.01});
  const Dataset dataset = Dataset::open(folder / "small");
  const Job job = batch_job({"sage", {"model.kind=sage"}}, "metis");
  const JobPlan plan = plan_job(job, dataset, kOptions);
  const JobPlan prepared = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  constexpr auto kFeatures = std::size_t(Traffic::kFeatures), kGradient = std::size_t(Traffic::kGradient);
  EXPECT_GT(plan.epoch[kFeatures], prepared.epoch[kFeatures]);
  EXPECT_LT(plan.epoch[kFeatures], 2 * prepared.epoch[kFeatures]);
  EXPECT_EQ(plan.epoch[kGradient], prepared.epoch[kGradient]);
  EXPECT_THAT(to_text(plan, job),
              testing::HasSubstr("at most these, because metis keeps neighbours together"));
  EXPECT_THAT(to_json(plan, job), testing::HasSubstr(R"("from":"datasetAssumedParts")"));
  EXPECT_THAT(to_text(prepared, job), testing::Not(testing::HasSubstr("--prepare")));
  // Its fanout is [2, 2, -1], or as many twos as there are layers in between.
  EXPECT_THAT(to_text(prepared, job), testing::ContainsRegex("\nneighbours drawn: seed → all( → 2)+\n"));
}

INSTANTIATE_TEST_SUITE_P(Every, PlannedBatches, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(
    All, PlannedBatches,
    testing::Values(
        SmallCase{"gcn", {}}, SmallCase{"sage", {"model.kind=sage"}, {.weighted = true}},
        SmallCase{"batch_norm", {"model.norm=batch"}},
        SmallCase{"mapped", {"strategy.minibatch.structure=mapped"}},
        SmallCase{"half", {"strategy.wire=bfloat16"}}, SmallCase{"halves", {"training.precision=bfloat16"}},
        SmallCase{"some_features", {"strategy.minibatch.featureRate=0.5"}},
        SmallCase{"inductive", {"training.setting=inductive"}},
        SmallCase{"symmetrised", {"model.kind=sage", "dataset.symmetrise=true"}, {.symmetric = false}},
        SmallCase{"loops_removed", {"dataset.selfLoops=remove"}},
        SmallCase{"replaced", {"strategy.minibatch.replace=true"}},
        SmallCase{"small_slabs", {"resources.memory=20Ki"}},
        SmallCase{"sparse", {"model.kind=sage"}, {.features = 600, .density = 0.01}},
        SmallCase{"bits", {}, {.features = 70, .arc_share = 0.3, .density = 0.4, .one_valued = true}},
        SmallCase{"sparse_half", {"strategy.wire=bfloat16"}, {.features = 600, .density = 0.01}},
        SmallCase{"few_touched", {"model.kind=sage"}, {.features = 6000, .density = 0.0005}},
        SmallCase{"f1_of_classes", {"training.metric=f1Macro"}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
