// The plan of strategy `p3` equals the bytes of a run whose epochs have no more steps than the plan draws,
// and the paper's formula.
#include <gmock/gmock.h>

#include <numeric>

#include "base/json.h"
#include "base/text.h"
#include "plan/columns_job.h"
#include "plan/section_of.h"
#include "sampler/batch_sampling.h"
#include "strategies/p3/plan.h"

namespace atl {
namespace {

struct Sent {
  std::vector<TrafficBytes> by_rank;
  std::vector<std::int64_t> evaluated;  // by rank
  // By step, of all ranks' batches, which are drawn once more: rows whose sums are made whole, and rows that
  // those read.
  std::vector<Index> whole_rows, input_rows;
};

Index sum_of(const std::vector<Index>& counts) {
  return std::accumulate(counts.begin(), counts.end(), Index(0));
}

/// What all of so many ranks send for a sum of values that each has: its own to all others, or, where that is
/// more than 64 KiB, a slice to whoever adds it up, who sends it on.
Index summed_bytes(Index ranks, Index values) {
  const Index each = values * Index(sizeof(Real));
  const bool in_slices = ranks > 2 && (ranks - 1) * each > 64 * 1024;
  return (in_slices ? 2 : ranks) * (ranks - 1) * each;
}

/// Attention's, in either direction: a score a head of each row that is made whole, and of each row that it
/// reads.
Index score_bytes(const Job& job, Index pieces, const Sent& sent) {
  if (job.model.kind != "gat") return 0;
  const Index heads = job.model.options.integer("heads");
  Index bytes = 0;
  for (const auto* const rows : {&sent.whole_rows, &sent.input_rows})
    for (const Index of_step : *rows) bytes += summed_bytes(pieces, of_step * heads);
  return bytes;
}

Sent run_an_epoch(const Job& job, const std::filesystem::path& data, int hops) {
  Sent sent{std::vector<TrafficBytes>(std::size_t(job.placement.ranks)),
            std::vector<std::int64_t>(std::size_t(job.placement.ranks)),
            {},
            {}};
  std::mutex lock;
  run_ranks(job.placement.ranks, [&](Communicator& comm) {
    SmallRank rank(comm, job, data, 1);
    const Ledger before = comm.ledger();
    for (std::int64_t step = 1; step <= rank.trainer->steps(); ++step) {
      std::array<double, 4> sums{rank.trainer->train_step(step, 0.01)};
      // As EpochLoop does; the last one's bytes are told in it.
      if (step < rank.trainer->steps()) comm.all_reduce(Traffic::kStatistics, std::span<double>(sums));
    }
    const Ledger after = comm.ledger();
    for (int p = 0; p < kTraffics; ++p)
      sent.by_rank[std::size_t(comm.rank())][std::size_t(p)] =
          after.bytes(Link::kIntra, Traffic(p)) - before.bytes(Link::kIntra, Traffic(p));
    rank.trainer->evaluate();
    sent.evaluated[std::size_t(comm.rank())] = comm.ledger().bytes(Link::kIntra, Traffic::kEvaluation);
    BatchSamplingOptions options{.sampling = {.fanout = {}, .seed = job.training.seed},
                                 .batch_size = job.strategy.options.integer("batchSize")};
    for (const std::int64_t each : job.strategy.options.integers("fanout"))
      options.sampling.fanout.push_back(int(each));
    BatchSampling drawn(rank.data.held_in_training().batches(), comm, options);
    StreamedBatch made;
    const MakeBatch make = drawn.maker(nullptr);
    for (std::int64_t step = 0; step < rank.trainer->steps(); ++step) {
      make(step, made);
      const std::lock_guard guard(lock);
      sent.whole_rows.resize(std::size_t(rank.trainer->steps())),
          sent.input_rows.resize(sent.whole_rows.size());
      sent.whole_rows[std::size_t(step)] += made.batch.input_rows(hops);
      sent.input_rows[std::size_t(step)] += made.batch.input_rows(0);
    }
  });
  return sent;
}

class PlannedColumns : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override { write_small_data(folder_ / "small", GetParam().data); }
  TemporaryFolder folder_;
};

void expect_sent(const JobPlan& plan, const Sent& sent) {
  for (const RankPlan& rank : plan.ranks) {
    const std::int64_t evaluated = sent.evaluated[std::size_t(rank.shape.rank)];
    EXPECT_EQ(rank.evaluation[std::size_t(Traffic::kEvaluation)], evaluated) << "rank " << rank.shape.rank;
    EXPECT_EQ(std::accumulate(rank.evaluation_parts.begin(), rank.evaluation_parts.end(), std::int64_t(0)),
              evaluated)
        << "rank " << rank.shape.rank;
  }
  for (const RankPlan& rank : plan.ranks)
    for (std::size_t p = 0; p < std::size_t(kTraffics); ++p)
      EXPECT_EQ(rank.epoch[p], sent.by_rank[std::size_t(rank.shape.rank)][p])
          << traffic_name(Traffic(p)) << ", rank " << rank.shape.rank;
}

/// (P / c − 1) Σ |V₁| h values each way, and no features; attention adds scores, each once.
TEST_P(PlannedColumns, SendWhatARunSendsAndThePaperSays) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  for (const auto& [ranks, options] : {std::pair{4, "columns: rank"}, std::pair{4, "copies: 2"},
                                       std::pair{3, "structure: mapped"}, std::pair{2, "copies: 2"}}) {
    SCOPED_TRACE(fmt::format("{} ranks, {}", ranks, options));
    const Job job = batches_of("p3", GetParam(), ranks, options, {"training.epochs=1"});
    const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
    const ColumnsPlan& columns = section_of<ColumnsSection>(plan).columns();
    const bool gathers = columns.after_gather;
    const bool sums = job.model.kind == "sgc" || job.model.kind == "sign";  // before the product
    const int hops = !gathers ? 0 : sums && GetParam().name != "sgc_drops_first" ? 3 : 1;
    const int real_hops = sums ? std::min(hops, gathering_layers(job.model)) : hops;
    const Sent sent = run_an_epoch(job, folder_ / "small", real_hops);
    expect_sent(plan, sent);
    EXPECT_EQ(Index(columns.rows), sum_of(sent.whole_rows));
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kFeatures)], 0);
    const Index pieces = columns.pieces;
    const Index value = job.strategy.wire == Precision::kBFloat16 ? 2 : Index(sizeof(Real));
    const Index products = (pieces - 1) * sum_of(sent.whole_rows) * columns.width * value,
                scores = score_bytes(job, pieces, sent);
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kPartial)], products + scores);
    EXPECT_EQ(plan.epoch[std::size_t(Traffic::kPartialGradient)], products + scores);
  }
}

TEST_P(PlannedColumns, AreTheRunsWithoutAPreparedGraph) {
  const Dataset dataset = Dataset::open(folder_ / "small");
  const Job job = batches_of("p3", GetParam(), 3, "delay: 3");
  const JobPlan plan = plan_job(job, dataset, kOptions),
                prepared = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  for (std::size_t rank = 0; rank < 3; ++rank) {
    EXPECT_EQ(plan.ranks[rank].epoch, prepared.ranks[rank].epoch);
    EXPECT_EQ(plan.ranks[rank].memory.peak(), prepared.ranks[rank].memory.peak());
    EXPECT_EQ(plan.ranks[rank].work.product_flops, prepared.ranks[rank].work.product_flops);
  }
}

std::vector<SmallCase> cases() {
  std::vector<SmallCase> all = every_model_by_columns();
  for (const SmallCase& each : first_layers()) all.push_back(each);
  all.push_back({"half", {"strategy.wire=bfloat16"}, {.features = 11}});
  all.push_back({"batch_norm", {"model.norm=batch"}, {.features = 11}});
  all.push_back({"small_slabs", {"resources.memory=20Ki"}, {.features = 11}});
  all.push_back({"gat_in_small_slabs",
                 {"model.kind=gat", "model.options={heads: 2}", "resources.memory=20Ki"},
                 {.features = 11}});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Models, PlannedColumns, testing::ValuesIn(cases()),
                         [](const auto& each) { return each.param.name; });

/// Scores of so many rows that their sums go in slices: those of all of a step's rows together.
TEST(PlannedScores, AreTheFormulasWhereTheyGoInSlices) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 900, .features = 12, .arc_share = 0.01});
  const Job job = small_job({"model={kind: gat, layers: 2, hidden: 4, options: {heads: 16}}",
                             "strategy={kind: p3, p3: {fanout: [5, 5], batchSize: 150, columns: rank}}",
                             "placement={ranks: 4, partitioner: hash}", "training.epochs=1"});
  const Dataset dataset = Dataset::open(folder / "small");
  const JobPlan plan = plan_job(job, dataset, prepared_for(job, dataset), kOptions);
  const Sent sent = run_an_epoch(job, folder / "small", 1);
  expect_sent(plan, sent);
  const Index slices = 64 * 1024 / (3 * Index(sizeof(Real)) * 16);  // more rows than these
  for (const Index rows : sent.whole_rows) EXPECT_GT(rows, slices);
  const Index expected =
      3 * sum_of(sent.whole_rows) * 4 * 16 * Index(sizeof(Real)) + score_bytes(job, 4, sent);
  EXPECT_EQ(plan.epoch[std::size_t(Traffic::kPartial)], expected);
  EXPECT_EQ(plan.epoch[std::size_t(Traffic::kPartialGradient)], expected);
}

/// One layer, as many classes, all arcs in mapped files: each rank sends every row's summands to its owner,
/// of which it owns some itself; and the seven sums of the metric. Features (96 columns) don't travel.
TEST(EvaluationByColumns, SendsSummandsOfEveryRow) {
  TemporaryFolder folder;
  constexpr Index kVertices = 600, kFeatures = 96;
  write_small_data(folder / "small", {.vertices = kVertices, .features = kFeatures, .arc_share = 0.03});
  const Dataset dataset = Dataset::open(folder / "small");
  for (const auto& [structure, memory] : {std::pair{"mapped", "1Gi"}, std::pair{"mapped", "400Ki"}}) {
    const Job job = batches_of(
        "p3",
        {"sage",
         {"model.kind=sage", kDroppedBefore, "model.layers=1", fmt::format("resources.memory={}", memory)}},
        4, fmt::format("columns: rank, structure: {}", structure), {"training.epochs=1"});
    const Sent sent = run_an_epoch(job, folder / "small", 1);
    std::int64_t all = 0;
    for (const std::int64_t each : sent.evaluated) all += each;
    const Index classes = dataset.meta().classes;
    EXPECT_EQ(all, 3 * kVertices * classes * Index(sizeof(Real)) + 4 * 3 * 7 * 8) << memory;
  }
}

/// GAT in two layers, of which the first is by columns; a slab a rank.
class EvaluationParted : public testing::Test {
 protected:
  static constexpr Index kRanks = 3, kVertices = 300, kHeads = 2, kHidden = 4;

  void SetUp() override {
    write_small_data(folder_ / "small", {.vertices = kVertices, .features = 12, .arc_share = 0.03});
    dataset_.emplace(Dataset::open(folder_ / "small"));
  }
  Job job(const std::string& structure) const {
    return small_job({"model={kind: gat, layers: 2, hidden: 4, options: {heads: 2}}",
                      "strategy={kind: p3, p3: {fanout: [5, 5], batchSize: 50, columns: rank, structure: " +
                          structure + "}}",
                      "placement={ranks: 3, partitioner: hash}", "training.epochs=1"});
  }
  JobPlan plan(const Job& of) const { return plan_job(of, *dataset_, prepared_for(of, *dataset_), kOptions); }
  /// Rows that ranks read and don't own, once for each rank that does.
  Index read_of_others(const Job& of) const {
    const PreparedGraph prepared = prepared_for(of, *dataset_);
    Index rows = 0;
    for (int part = 0; part < prepared.parts(); ++part) rows += Index(prepared.halo(part).size());
    return rows;
  }

  TemporaryFolder folder_;
  std::optional<Dataset> dataset_;
};

std::int64_t part_of(const EvaluationParts& parts, EvaluationPart part) {
  return parts[std::size_t(part)];
}

/// What a run sends more than one whose ranks read all arcs in files: arcs and ids alone.
TEST_F(EvaluationParted, StructureIsWhatMappedFilesSpare) {
  const Job asked = job("partitioned"), mapped = job("mapped");
  const Sent with = run_an_epoch(asked, folder_ / "small", 1),
             without = run_an_epoch(mapped, folder_ / "small", 1);
  const JobPlan plan_with = plan(asked), plan_without = plan(mapped);
  expect_sent(plan_with, with);
  expect_sent(plan_without, without);
  for (std::size_t rank = 0; rank < kRanks; ++rank) {
    const EvaluationParts &all = plan_with.ranks[rank].evaluation_parts,
                          &rest = plan_without.ranks[rank].evaluation_parts;
    EXPECT_EQ(part_of(all, EvaluationPart::kStructure), with.evaluated[rank] - without.evaluated[rank]);
    EXPECT_EQ(part_of(rest, EvaluationPart::kStructure), 0);
    for (const auto part :
         {EvaluationPart::kRows, EvaluationPart::kSummands, EvaluationPart::kScores, EvaluationPart::kMetric})
      EXPECT_EQ(part_of(all, part), part_of(rest, part)) << kEvaluationPartNames[std::size_t(part)];
  }
}

/// (P − 1) n h values of summands; a score a head of each row and of all that it reads; what the second layer
/// reads of others; and the seven sums of the metric. The ledger holds them together.
TEST_F(EvaluationParted, EachPartIsWhatThePaperSays) {
  constexpr Index kValue = sizeof(Real), kWidth = kHeads * kHidden, kPairs = kRanks * (kRanks - 1);
  const Job of = job("mapped");
  const EvaluationParts parts = plan(of).evaluation_parts;
  const Index others = read_of_others(of);
  ASSERT_GT(others, 0);
  EXPECT_EQ(part_of(parts, EvaluationPart::kSummands), (kRanks - 1) * kVertices * kWidth * kValue);
  EXPECT_EQ(part_of(parts, EvaluationPart::kScores),
            summed_bytes(kRanks, kVertices * kHeads) + summed_bytes(kRanks, (kVertices + others) * kHeads));
  EXPECT_EQ(part_of(parts, EvaluationPart::kRows), 8 * kPairs + (4 + kWidth * kValue) * others);
  EXPECT_EQ(part_of(parts, EvaluationPart::kMetric), kPairs * 7 * 8);
}

TEST_F(EvaluationParted, IsToldSo) {
  const Job of = job("partitioned");
  const JobPlan planned = plan(of);
  const auto told = parse_json(to_json(planned, of));
  std::string text;
  std::int64_t all = 0;
  for (const char* name : {"structure", "rows", "summands", "scores", "metric"}) {
    const std::int64_t bytes = told.at("evaluationParts").at(name);
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, bytes_text(double(bytes)));
    all += bytes;
    std::int64_t of_ranks = 0;
    for (const auto& rank : told.at("ranks"))
      of_ranks += rank.at("evaluationParts").at(name).get<std::int64_t>();
    EXPECT_EQ(of_ranks, bytes) << name;
  }
  EXPECT_EQ(told.at("evaluationBytes").at("evaluation"), all);
  EXPECT_THAT(to_text(planned, of), testing::HasSubstr(fmt::format("between ranks, per evaluation: {} ({})\n",
                                                                   bytes_text(double(all)), text)));
}

/// Without mapped files what a slab reads is pushed to the group, and ids are asked for: bytes that grow with
/// arcs, not with features.
TEST(EvaluationByColumns, SendsAsMuchForWideFeaturesAsForNarrowOnes) {
  const auto evaluated = [](Index features) {
    TemporaryFolder folder;
    write_small_data(folder / "small", {.vertices = 300, .features = features, .arc_share = 0.03});
    const Job job = batches_of("p3", {"gcn", {"model.layers=2"}}, 3, "columns: rank", {"training.epochs=1"});
    const Sent sent = run_an_epoch(job, folder / "small", 1);
    return sent.evaluated;
  };
  EXPECT_EQ(evaluated(30), evaluated(90));
}

}  // namespace
}  // namespace atl
