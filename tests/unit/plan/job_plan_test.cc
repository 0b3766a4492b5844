// A plan equals a run: buffers, scratch memory and bytes on the wire, to the byte.
#include "plan/job_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

#include "base/memory.h"
#include "job/strategies.h"
#include "plan/traffic.h"
#include "train/every_model.h"

namespace atl {
namespace {

std::vector<SmallCase> cases() {
  return {
      {"gcn", {}},
      {"gcn_batch_norm_recompute", {"model.norm=batch", "training.recompute=layer"}},
      {"gcn_transform_first", {"training.inputDropout={rate: 0.3}"}, {.features = 20}},
      {"gcn_sparse", {}, {.density = 0.15}},
      {"gcn_bits", {}, kBitData},
      {"sage_bits_normalised", {"model.kind=sage", "dataset.normaliseFeatures=row"}, kBitData},
      {"gcn_inductive", {"training.setting=inductive", "model.norm=layer"}},
      {"resgcn_inductive_batch_norm",
       {"model.kind=resgcn", "training.setting=inductive", "model.norm=batch"}},
      {"pipegcn", {"strategy.kind=pipegcn"}},
      {"pipegcn_plain", {"strategy.kind=pipegcn", "strategy.pipegcn={smoothing: none}"}},
      {"pipegcn_sage_smoothed_recompute",
       {"strategy.kind=pipegcn", "strategy.pipegcn={smoothing: both}", "model.kind=sage",
        "training.recompute=layer"}},
      {"cagnet", {"strategy.kind=cagnet"}},
      {"cagnet_batch_norm_recompute",
       {"strategy.kind=cagnet", "model.norm=batch", "training.recompute=layer"}},
      {"cagnet_inductive", {"strategy.kind=cagnet", "training.setting=inductive"}},
      {"cagnet_bits", {"strategy.kind=cagnet"}, kBitData},
      {"cagnet_gat",
       {"strategy.kind=cagnet", "model.kind=gat", "model.options={heads: 2}",
        "training.attentionDropout=0.4"}},
      {"sancus", {"strategy.kind=sancus"}},
      {"sancus_bounded_recompute",
       {"strategy.kind=sancus", "strategy.sancus={rule: bounded}", "training.recompute=layer"}},
      {"bns", {"strategy.kind=bns", "strategy.bns={rate: 0.3}"}},
      {"bns_none", {"strategy.kind=bns", "strategy.bns={rate: 0}"}},
      {"bns_gat_recompute",
       {"strategy.kind=bns", "strategy.bns={rate: 0.3}", "model.kind=gat", "model.options={heads: 2}",
        "training.recompute=layer"}},
      {"bns_gat_inductive",
       {"strategy.kind=bns", "strategy.bns={rate: 0.3}", "model.kind=gat", "training.setting=inductive"}},
      {"pipegcn_sampled", {"strategy.kind=pipegcn", "strategy.pipegcn={boundaryRate: 0.3}"}},
      {"graph_bfloat16_recompute", {"strategy.wire=bfloat16", "training.recompute=layer"}},
      {"cagnet_bfloat16_recompute",
       {"strategy.kind=cagnet", "strategy.wire=bfloat16", "training.recompute=layer"}},
      {"sancus_bfloat16", {"strategy.kind=sancus", "strategy.wire=bfloat16"}},
      {"pipegcn_bfloat16", {"strategy.kind=pipegcn", "strategy.wire=bfloat16", "model.kind=sage"}},
      {"granndis", {"strategy.kind=granndis", "placement.ranksPerServer=1"}},
      {"granndis_batch_norm_recompute",
       {"strategy.kind=granndis", "strategy.granndis={maxHop: 0, fanout: -1}", "model.norm=batch",
        "training.recompute=layer"}},
      {"granndis_redrawn",
       {"strategy.kind=granndis", "strategy.granndis={maxHop: 2, fanout: 1, redraw: epoch}",
        "model.kind=sage"}},
      {"granndis_bits",
       {"strategy.kind=granndis", "strategy.granndis={maxHop: 0, fanout: -1}", "model.kind=sage"},
       kBitData},
      {"granndis_gat_inductive", {"strategy.kind=granndis", "model.kind=gat", "training.setting=inductive"}},
      {"granndis_hops", {"strategy.kind=granndis", "strategy.granndis={hops: 1, maxHop: 0, fanout: -1}"}},
      {"granndis_hops_inductive_recompute",
       {"strategy.kind=granndis", "strategy.granndis={hops: 2, maxHop: 0, fanout: -1}", "model.kind=gcnii",
        "training.setting=inductive", "training.recompute=layer"}},
      {"granndis_hops_of_a_sample",
       {"strategy.kind=granndis", "strategy.granndis={hops: 2}", "model.kind=gat", "strategy.wire=bfloat16"}},
      {"granndis_batches",
       {"strategy.kind=granndis", "strategy.granndis={maxHop: 0, fanout: -1, batches: 3}"}},
      {"granndis_batches_inductive",
       {"strategy.kind=granndis", "strategy.granndis={batches: 2}", "model.kind=gat", "model.norm=batch",
        "training.setting=inductive", "training.recompute=layer", "strategy.wire=bfloat16"}},
      {"gcn_directed", {"model.norm=layer"}, {.symmetric = false}},
      {"sage", {"model.kind=sage", "training.optimizer={kind: sgd}"}},
      {"gcnii", {"model.kind=gcnii", "model.layers=4", "training.recompute=layer"}},
      {"sign", {"model.kind=sign", "model.norm=batch"}},
      {"sign_inductive_sparse", {"model.kind=sign", "training.setting=inductive"}, {.density = 0.15}},
      {"sign_halves_recompute",
       {"model.kind=sign", "training.precision=bfloat16", "training.recompute=layer"}},
      {"sign_cagnet", {"model.kind=sign", "strategy.kind=cagnet"}},
      {"sign_deep_halves",
       {"model.kind=sign", "model.options={hops: 2, hopLayers: 2}", "model.denseLayers=1",
        "training.precision=bfloat16"}},
      {"wide_parameters", {"model.hidden=128", "training.inputDropout={rate: 0.3}"}, {.features = 20}},
      {"halves", {"training.precision=bfloat16", "model.norm=layer"}},
      {"halves_sage_batch_norm_recompute",
       {"training.precision=bfloat16", "model.kind=sage", "model.norm=batch", "training.recompute=layer"}},
      {"halves_gat",
       {"training.precision=bfloat16", "model.kind=gat", "model.options={heads: 2}",
        "training.attentionDropout=0.4"}},
      {"halves_resgcn", {"training.precision=bfloat16", "model.kind=resgcn", "model.norm=batch"}},
      {"halves_gcnii", {"training.precision=bfloat16", "model.kind=gcnii", "model.layers=4"}},
      {"halves_pipegcn",
       {"training.precision=bfloat16", "strategy.kind=pipegcn", "strategy.pipegcn={smoothing: both}"}},
      {"halves_cagnet_gat", {"training.precision=bfloat16", "strategy.kind=cagnet", "model.kind=gat"}},
      {"halves_sancus", {"training.precision=bfloat16", "strategy.kind=sancus"}},
      {"halves_bns", {"training.precision=bfloat16", "strategy.kind=bns", "strategy.bns={rate: 0.3}"}},
      {"multi_label", {"training.loss=binaryCrossEntropy", "training.metric=f1Micro"}, {.multi_label = true}},
      {"areas_of_labels",
       {"training.loss=binaryCrossEntropy", "training.metric=rocAuc"},
       {.multi_label = true}},
      {"f1_of_classes", {"training.metric=f1Macro"}},
  };
}

/// What one rank of a real run held and sent. `schedule`: with that of the one that evaluates, where it is
/// another one.
struct Observed {
  ScheduleBytes schedule;
  Index workspace = 0, features = 0;
  TrafficBytes epoch{}, evaluation{};
};

TrafficBytes sent_between(const Ledger& before, const Ledger& after) {
  TrafficBytes sent{};
  for (int p = 0; p < kTraffics; ++p)
    sent[std::size_t(p)] = after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
  return sent;
}

Index feature_bytes(const GraphPart& part) {
  Index bytes = 0;
  std::vector<Rows> all{part.features, part.halo_features, part.computed_features};
  all.insert(all.end(), part.read_features.begin(), part.read_features.end());
  for (const Rows& rows : all) {
    if (rows.sparse != nullptr)
      bytes += 16 * rows.sparse->csr.arcs() + 8 * (rows.rows() + rows.cols() + 2);
    else if (rows.bits != nullptr)
      bytes +=
          4 * (rows.rows() * rows.bits->bits.row_words() + rows.cols() * rows.bits->transpose.row_words()) +
          Index(sizeof(Real)) * rows.rows();
    else
      bytes += rows.dense.rows * rows.dense.row_bytes();
  }
  return bytes;
}

ScheduleBytes most_of_each(const ScheduleBytes& a, const ScheduleBytes& b) {
  return {std::max(a.activations, b.activations), std::max(a.saved, b.saved),
          std::max(a.gradients, b.gradients), std::max(a.halo, b.halo)};
}

ScheduleBytes sum_of(const ScheduleBytes& a, const ScheduleBytes& b) {
  return {a.activations + b.activations, a.saved + b.saved, a.gradients + b.gradients, a.halo + b.halo};
}

/// Of the first epoch or, where each step makes a schedule of its own, of the second: the first one's first
/// is made before.
Observed observe(SmallRank& rank, Communicator& comm) {
  Observed seen;
  const std::int64_t steps = rank.trainer->steps(), first = steps == 1 ? 1 : steps + 1;
  if (steps > 1) rank.trainer->train_epoch(1, 0.01);
  const Ledger before = comm.ledger();
  Index of_training = 0;
  for (std::int64_t step = first; step < first + steps; ++step) {
    if (step > first) {  // as between two steps of a run (train/epoch_loop.cc)
      std::array<double, 4> told{};
      comm.all_reduce(Traffic::kStatistics, std::span<double>(told));
    }
    rank.trainer->train_step(step, 0.01);
    seen.schedule = most_of_each(seen.schedule, rank.trainer->bytes());
    if (rank.data.has_training_part())
      of_training = std::max(of_training, feature_bytes(rank.data.training_part()));
  }
  const Ledger after = comm.ledger();
  seen.epoch = sent_between(before, after);
  rank.trainer->evaluate();
  if (rank.data.has_training_part()) seen.schedule = sum_of(seen.schedule, rank.trainer->inference().bytes());
  seen.evaluation = sent_between(after, comm.ledger());
  seen.workspace = rank.workspace.bytes();
  seen.features = feature_bytes(rank.data.part()) + of_training;
  return seen;
}

Job job_on(std::vector<std::string> fields, int ranks) {
  fields.push_back("placement.ranks=" + std::to_string(ranks));
  return small_job(fields);
}

class PlannedAndRun : public testing::TestWithParam<std::tuple<SmallCase, int>> {};

TEST_P(PlannedAndRun, AgreeToTheByte) {
  const auto& [c, ranks] = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  const Job job = job_on(c.fields, ranks);
  std::vector<Observed> seen(std::size_t{8});
  run_ranks(ranks, [&, count = ranks](Communicator& comm) {
    ASSERT_LE(count, 8);
    SmallRank rank(comm, job, folder / "small", 2);
    seen[std::size_t(comm.rank())] = observe(rank, comm);
  });
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::open(dataset, partition_options(job, ranks), graph_transforms(job),
                                            training_marks(dataset, job));
  const JobPlan plan = plan_job(job, dataset, prepared, {2, {1e9, 1e9, 1e9}, 1e9});
  ASSERT_EQ(plan.ranks.size(), std::size_t(ranks));
  for (const RankPlan& r : plan.ranks) {
    const Observed& real = seen[std::size_t(r.shape.rank)];
    for (int p = 0; p < kTraffics; ++p) {
      EXPECT_EQ(r.epoch[std::size_t(p)], real.epoch[std::size_t(p)])
          << traffic_name(Traffic(p)) << ", rank " << r.shape.rank;
      EXPECT_EQ(r.evaluation[std::size_t(p)], real.evaluation[std::size_t(p)])
          << "evaluation, " << traffic_name(Traffic(p)) << ", rank " << r.shape.rank;
    }
    const auto item = [&](const std::string& name) {
      for (const MemoryItem& i : r.memory.items) {
        if (i.name == name) return i.bytes;
      }
      return Index(-1);
    };
    EXPECT_EQ(item("scratch"), real.workspace);
    EXPECT_EQ(item("gradients of activations"), real.schedule.gradients);
    if (c.data.density == 1) {  // the non-zeros of sparse rows are planned by their mean
      EXPECT_EQ(item("features"), real.features);
    }
    if (data_share_of(job, 0).server) continue;  // a server's graphs are drawn, or trained in turn
    EXPECT_EQ(item("activations"), real.schedule.activations);
    EXPECT_EQ(item("saved for backward"), real.schedule.saved);
    EXPECT_EQ(item("halo rows"), real.schedule.halo);
  }
}

/// Every strategy, with weights of a GiB a layer and rows of half a GiB: of these a plan holds none.
TEST_P(PlannedAndRun, APlanHoldsNothingThatGrowsWithTheModel) {
  const auto& [c, ranks] = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  std::vector<std::string> fields = c.fields;
  fields.push_back("model.hidden=16384");
  const Job job = job_on(fields, ranks);
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, ranks), graph_transforms(job),
                                            training_marks(dataset, job));
  const auto before = process_memory().resident_bytes;
  const JobPlan plan = plan_job(job, dataset, prepared, {2, {1e9, 1e9, 1e9}, 1e9});
  const auto& ignored = find_model(job.model.kind)->ignores;
  if (std::ranges::find(ignored, "model.hidden") == ignored.end()) {
    EXPECT_GT(plan.ranks[0].memory.training, Index(50) << 20);
  }
  EXPECT_LT(process_memory().resident_bytes - before, 16 << 20);
}

TEST_P(PlannedAndRun, TheStrategysFormulaSaysWhatIsSent) {
  const auto& [c, ranks] = GetParam();
  TemporaryFolder folder;
  write_small_data(folder / "small", c.data);
  const Job job = job_on(c.fields, ranks);
  const Dataset dataset = Dataset::open(folder / "small");
  const auto prepared = PreparedGraph::make(dataset, partition_options(job, ranks), graph_transforms(job),
                                            training_marks(dataset, job));
  const DatasetMeta& meta = dataset.meta();
  const FeatureShape features = feature_shape(job, meta);
  const Model model = planned_model(job, features, meta.classes);
  const EpochTraffic formula =
      job.strategy.row->traffic(job.strategy.options, traffic_shape(job, dataset, model, prepared));
  const JobPlan plan = plan_job(job, dataset, prepared, {1, {1e9, 1e9, 1e9}, 1e9});
  EXPECT_EQ(formula.halo, plan.epoch[std::size_t(Traffic::kHalo)]);
  EXPECT_EQ(formula.halo_gradient, plan.epoch[std::size_t(Traffic::kHaloGradient)]);
  EXPECT_EQ(formula.gradient, plan.epoch[std::size_t(Traffic::kGradient)]);
  EXPECT_EQ(formula.recompute, plan.epoch[std::size_t(Traffic::kRecompute)]);
  std::vector<double> sent(std::size_t(ranks), 0), planned(std::size_t(ranks), 0);
  for (const PairBytes& flow : part_flows(job, dataset, prepared)) sent[std::size_t(flow.from)] += flow.bytes;
  for (int r = 0; r < ranks; ++r)
    for (const Traffic t : {Traffic::kHalo, Traffic::kHaloGradient, Traffic::kGradient, Traffic::kRecompute})
      planned[std::size_t(r)] += double(plan.ranks[std::size_t(r)].epoch[std::size_t(t)]);
  for (int r = 0; r < ranks; ++r)
    EXPECT_NEAR(sent[std::size_t(r)], planned[std::size_t(r)], 1e-6 * planned[std::size_t(r)] + 8.0 * ranks);
}

INSTANTIATE_TEST_SUITE_P(Every, PlannedAndRun,
                         testing::Combine(testing::ValuesIn(every_model()), testing::Values(1, 3)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + "_" +
                                  std::to_string(std::get<1>(instance.param));
                         });
INSTANTIATE_TEST_SUITE_P(Models, PlannedAndRun,
                         testing::Combine(testing::ValuesIn(cases()), testing::Values(1, 2, 3)),
                         [](const auto& instance) {
                           return std::get<0>(instance.param).name + "_" +
                                  std::to_string(std::get<1>(instance.param));
                         });

}  // namespace
}  // namespace atl
