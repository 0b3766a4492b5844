// The plan of a pipeline equals a run: bytes by purpose, buffers, scratch memory. Stages send 2(S − 1)·n·h·4
// bytes per epoch to each other, twice as many with a tap; within a stage, ranks send halo rows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "job/strategies.h"
#include "plan/job_plan.h"
#include "plan/section_of.h"
#include "plan/traffic.h"
#include "strategies/gnnpipe/info.h"
#include "strategies/gnnpipe/plan.h"
#include "train/every_model.h"

namespace atl {
namespace {

constexpr int kRanks = 4;

struct Seen {
  TrafficBytes epoch{}, evaluation{};
  ScheduleBytes schedule;
  Index workspace = 0;
};

Job pipeline_job(const SmallCase& c, int stages) {
  std::vector<std::string> fields = c.fields;
  fields.insert(fields.end(), {"strategy.kind=gnnpipe",
                               "strategy.gnnpipe={chunks: 5, stages: " + std::to_string(stages) + "}",
                               "placement.ranks=" + std::to_string(kRanks), "placement.partitioner=hash"});
  return small_job(fields);
}

std::vector<Seen> run(const Job& job, const std::filesystem::path& data) {
  std::vector<Seen> seen(kRanks);
  run_ranks(kRanks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 2);
    Seen& mine = seen[std::size_t(comm.rank())];
    const Ledger before = comm.ledger();
    rank.trainer->train_epoch(1, 0.01);
    for (int p = 0; p < kTraffics; ++p)
      mine.epoch[std::size_t(p)] =
          comm.ledger().bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    const Ledger trained = comm.ledger();
    rank.trainer->evaluate();
    for (int p = 0; p < kTraffics; ++p)
      mine.evaluation[std::size_t(p)] =
          comm.ledger().bytes(Link::kIntra, Traffic(p)) - trained.bytes(Link::kIntra, Traffic(p));
    mine.schedule = rank.trainer->bytes();
    mine.workspace = rank.workspace.bytes();
  });
  return seen;
}

class PlannedPipeline : public testing::TestWithParam<std::tuple<SmallCase, int>> {};

TEST_P(PlannedPipeline, IsWhatRuns) {
  const auto& [c, stages] = GetParam();
  if (stages > most_stages(small_job(c.fields))) return;
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  const Job job = pipeline_job(c, stages);
  const std::vector<Seen> seen = run(job, folder / "small");
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::open(dataset, partition_options(job, kRanks), graph_transforms(job),
                                            training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {2, {1e9, 1e9, 1e9}, 1e9});
  ASSERT_EQ(int(plan.ranks.size()), kRanks);
  for (const RankPlan& r : plan.ranks) {
    const Seen& real = seen[std::size_t(r.shape.rank)];
    EXPECT_EQ(r.epoch, real.epoch) << "rank " << r.shape.rank;
    EXPECT_EQ(r.evaluation, real.evaluation) << "rank " << r.shape.rank;
    const bool one_schedule = job.training.setting != Setting::kInductive;  // otherwise two are summed
    for (const MemoryItem& item : r.memory.items) {
      const Index held = item.name == "scratch"                              ? real.workspace
                         : item.name == "halo rows" && one_schedule          ? real.schedule.halo
                         : item.name == "activations" && one_schedule        ? real.schedule.activations
                         : item.name == "gradients of activations"           ? real.schedule.gradients
                         : item.name == "saved for backward" && one_schedule ? real.schedule.saved
                                                                             : item.bytes;
      EXPECT_EQ(item.bytes, held) << item.name << ", rank " << r.shape.rank;
    }
  }
  const Model model = planned_model(job, feature_shape(job, dataset.meta()), dataset.meta().classes);
  const TrafficShape shape = traffic_shape(job, dataset, model, prepared);
  const EpochTraffic formula = find_strategy("gnnpipe")->traffic(job.strategy.options, shape);
  EXPECT_EQ(formula.halo, plan.epoch[std::size_t(Traffic::kHalo)]);
  EXPECT_EQ(formula.halo_gradient, plan.epoch[std::size_t(Traffic::kHaloGradient)]);
  EXPECT_EQ(formula.gradient, plan.epoch[std::size_t(Traffic::kGradient)]);
  EXPECT_EQ(formula.stage, plan.epoch[std::size_t(Traffic::kStage)]);
  EXPECT_EQ(formula.stage_gradient, plan.epoch[std::size_t(Traffic::kStageGradient)]);
  // Of the gradients' sum a stage's share is taken for as much as another's.
  double between_pairs = 0;
  for (const PairBytes& flow : part_flows(job, dataset, prepared)) between_pairs += flow.bytes;
  EXPECT_NEAR(between_pairs, double(formula.total()), 0.01 * double(formula.total()));
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model();
  all.push_back({"gcn_recompute", {"training.recompute=layer"}});
  all.push_back({"gcn_inductive", {"training.setting=inductive"}});
  all.push_back({"gcnii_wire", {"model.kind=gcnii", "model.layers=4", "strategy.wire=bfloat16"}});
  all.push_back({"gat_wire", {"model.kind=gat", "model.hidden=7", "strategy.wire=bfloat16"}});
  all.push_back({"gat_sparse", {"model.kind=gat"}, {.density = 0.15}});
  all.push_back({"resgcn_bits", {"model.kind=resgcn"}, kBitData});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Every, PlannedPipeline,
                         testing::Combine(testing::ValuesIn(cases()), testing::Values(1, 2)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + "_" +
                                  std::to_string(std::get<1>(instance.param)) + "_stages";
                         });

RankMemory memory_of(const std::vector<std::string>& fields, int chunks, const std::filesystem::path& data) {
  std::vector<std::string> all = fields;
  all.insert(all.end(), {"model.layers=6", "strategy.kind=gnnpipe", "placement.partitioner=range",
                         "strategy.gnnpipe={chunks: " + std::to_string(chunks) + "}"});
  const Job job = small_job(all);
  const Dataset dataset = Dataset::open(data);
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 1), graph_transforms(job),
                                            training_marks(dataset, job));
  return plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9}).ranks[0].memory;
}

Index bytes_of(const RankMemory& memory, const std::string& item) {
  return std::ranges::find(memory.items, item, &MemoryItem::name)->bytes;
}

/// Of 600 vertices, hidden 8: a gradient for each row that is gathered, and of one chunk that of an input, in
/// whose place layers work, and that of the output. Matrices end on a cache line.
TEST(PlannedPipeline, ChunksShareTheMemoryOfBackward) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 600});
  for (const int chunks : {1, 10}) {
    const Index most = 600 / chunks, rows = 5 * 600 * 8, turns = most * (8 + 3);
    EXPECT_NEAR(bytes_of(memory_of({"model.kind=gcn"}, chunks, folder / "small"), "gradients of activations"),
                Index(sizeof(Real)) * (rows + turns), 8 * 64)
        << chunks << " chunks";
  }
  const std::vector<std::string> repeated{"model.kind=gcnii", "model.norm=layer", "training.recompute=layer"};
  EXPECT_NEAR(bytes_of(memory_of(repeated, 1, folder / "small"), "saved for backward"),
              10 * bytes_of(memory_of(repeated, 10, folder / "small"), "saved for backward"), 10 * 64);
}

/// GCN of four layers and GCNII, hidden 8, on two stages of a rank each.
TEST(PlannedPipeline, TwoStagesSendEachHiddenRowOnceEachWayAndTheTapAsOften) {
  for (const auto& [kind, times] : {std::pair{"gcn", 1}, {"gcnii", 2}}) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {});
    const Job job = small_job({std::string("model.kind=") + kind, "model.layers=4", "strategy.kind=gnnpipe",
                               "placement.ranks=2", "placement.partitioner=hash"});
    const Dataset dataset = Dataset::open(folder / "small");
    const auto prepared = PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                              training_marks(dataset, job));
    const JobPlan plan = plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
    const auto bytes = std::int64_t(60 * 8 * sizeof(Real) * std::size_t(times));
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kStage)], bytes) << kind;
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kStageGradient)], bytes) << kind;
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kHalo)], 0) << kind;
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kGradient)], 0) << kind;
  }
}

/// The second of two stages waits for the first one's first chunk: an epoch takes 1 + 1/K times a stage's
/// work.
TEST(PlannedPipeline, StagesBeginInTurn) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto plan_of = [&](const char* chunks) {
    const Job job = small_job({"model.layers=4", "strategy.kind=gnnpipe", "placement.ranks=2",
                               std::string("strategy.gnnpipe={chunks: ") + chunks + "}"});
    return plan_job(job, dataset,
                    PreparedGraph::make(dataset, partition_options(job, 2), graph_transforms(job),
                                        training_marks(dataset, job)),
                    {1, {1e9, 1e9, 1e9}, 1e12});
  };
  const JobPlan two = plan_of("2"), eight = plan_of("8");
  for (std::size_t rank : {0U, 1U})
    EXPECT_NEAR(two.ranks[rank].compute_seconds / eight.ranks[rank].compute_seconds, 1.5 / 1.125, 1e-9)
        << rank;
  EXPECT_EQ(eight.epoch_seconds, std::max(eight.ranks[0].compute_seconds, eight.ranks[1].compute_seconds));
}

/// GCNII of five convolutions on three stages of two ranks.
TEST(PlannedPipeline, SaysWhichLayersAreOnWhichStage) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job = small_job({"model.kind=gcnii", "model.layers=5", "strategy.kind=gnnpipe",
                             "strategy.gnnpipe={layers: [2, 2, 1], chunks: 6}", "placement.ranks=6"});
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 6), graph_transforms(job),
                                            training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
  EXPECT_THAT(to_text(plan, job),
              testing::HasSubstr("  layers of each stage             stage 0       stage 1       stage 2\n"
                                 "  on ranks                             0–1           2–3           4–5\n"
                                 "  convolutions                         1–2           3–4             5\n"
                                 "  dense layers                           1             0             1\n"));
  EXPECT_THAT(to_json(plan, job),
              testing::HasSubstr(R"({"ranks":[2,3],"firstConvolution":3,"convolutions":2,"denseLayers":0})"));
  EXPECT_EQ(plan.section->lines(plan, job),
            std::vector<std::string>{"3 stages of 2, 2, 1 convolutions, 6 chunks"});
}

JobPlan plan_of_stages(const std::vector<std::string>& fields, const SmallData& data) {
  TemporaryFolder folder;
  write_small_data(folder / "small", data);
  std::vector<std::string> all{"model.layers=8", "model.hidden=64", "strategy.kind=gnnpipe",
                               "strategy.gnnpipe={layers: [2, 2, 2, 2], chunks: 16}", "placement.ranks=4"};
  all.insert(all.end(), fields.begin(), fields.end());
  const Job job = small_job(all);
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, 4), graph_transforms(job),
                                            training_marks(dataset, job));
  return plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
}

double stall_of(const JobPlan& plan) {
  return section_of<StagesSection>(plan).stall();
}

/// Two of eight layers a stage, and 16 chunks: of equal layers an epoch is (1 + 3/16) · 2 of them long, and a
/// first one that isn't cut adds 15/16 of one: 3.3125 / 2.375. It takes less, because features take no
/// gradient.
TEST(PlannedStages, SayThatAWholeFirstLayerStallsThem) {
  const JobPlan attention =
      plan_of_stages({"model.kind=gat", "model.hidden=16", "model.options={heads: 4, outputHeads: 4}"},
                     {.features = 64, .classes = 64});
  EXPECT_GT(stall_of(attention), 1.1);
  EXPECT_LE(stall_of(attention), 3.3125 / 2.375);
  EXPECT_THAT(section_of<StagesSection>(attention).stall_text(),
              testing::HasSubstr("compare strategies graph and granndis"));
  EXPECT_THAT(to_text(attention, small_job({})),
              testing::HasSubstr("all stages wait for it: an epoch takes about 1."));
  const JobPlan once = plan_of_stages({"model.kind=gcn"}, {.features = 64});
  EXPECT_EQ(stall_of(once), 1);
  EXPECT_EQ(section_of<StagesSection>(once).stall_text(), "");
  EXPECT_GT(stall_of(plan_of_stages({"model.kind=gcn"}, {.features = 64, .density = 0.1})), 1);
  EXPECT_GT(stall_of(plan_of_stages({"model.kind=sage"}, kBitData)), 1);
  EXPECT_GT(stall_of(plan_of_stages({"model.kind=gcn", "training.inputDropout=0.5"}, {.features = 64})), 1);
  EXPECT_EQ(stall_of(plan_of_stages({"model.kind=gat", "strategy.gnnpipe={stages: 1}"}, {})), 1)
      << "nobody waits";
}

}  // namespace
}  // namespace atl
