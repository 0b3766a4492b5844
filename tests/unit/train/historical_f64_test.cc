// Sampler `historical` of strategy minibatch, through the whole trainer: it equals its recurrence in plain
// loops, in some cases sampler `neighbour`, in some the exact result; neither time nor threads change a bit.
#include <gmock/gmock.h>

#include "job/models.h"
#include "train/every_model.h"
#include "train/historical_gcn.h"
#include "train/stale_gcn.h"

namespace atl {
namespace {

/// `options`: of the sampler, beside what all neighbours of batches of so many vertices are.
Job historical_job(std::vector<std::string> fields, int ranks, const std::string& options,
                   const std::string& sampler = "historical", const std::string& fanout = "-1") {
  std::string list;
  for (int layer = gathering_layers(small_job(fields).model); layer > 0; --layer)
    list += (list.empty() ? "" : ", ") + fanout;
  fields.insert(fields.begin(),
                {"strategy.kind=minibatch",
                 "strategy.minibatch={sampler: " + sampler + ", fanout: [" + list + "], " + options + "}"});
  fields.push_back("placement.partitioner={kind: range, parts: 6}");
  fields.push_back("placement.ranks=" + std::to_string(ranks));
  return small_job(fields);
}

struct RecurrenceCase {
  std::string name;
  int ranks, rows, max_age, delay;
};

class HistoricalSteps : public Recurrence {
 protected:
  /// What the recurrence needs of a rank: whose rows are whose, first weights, and each step's vertices.
  static void look(SmallRank& rank, Rank me, int limit, HistoricalGcn& gcn,
                   std::vector<HistoricalGcn::Vertices>& seeds) {
    const BatchGraph& graph = rank.data.held().batches();
    const CsrView& whole = graph.training.whole;
    const auto id = [&](Index row) { return std::size_t(graph.training.ids[std::size_t(row)]); };
    std::map<Index, Index> arcs;  // from others' rows
    for (Index i = 0; i < graph.owners.rows(me); ++i) {
      const Index row = graph.owners.first_row(me) + i;
      gcn.part[id(row)] = me;
      for (Index e = whole.offsets[row]; e < whole.offsets[row + 1]; ++e)
        if (!graph.owners.owns(me, whole.columns[e])) ++arcs[whole.columns[e]];
    }
    std::vector<std::pair<Index, Index>> order;
    for (const auto& [row, count] : arcs) order.emplace_back(-count, row);
    std::ranges::sort(order);
    order.resize(std::min(order.size(), std::size_t(limit)));
    for (const auto& [count, row] : order) gcn.kept[std::size_t(me)].insert(id(row));
    Seeds of_steps(graph.training_by_part, graph.training_rows, 7, rank.job.training.seed);
    std::vector<VertexId> rows;
    for (std::size_t step = 0; step < seeds.size(); ++step) {
      of_steps.of_step(std::int64_t(step), rows);
      for (const VertexId row : rows) seeds[step].insert(id(row));
    }
  }

  void expect_recurrence(const RecurrenceCase& c, int steps) {
    const Job job = historical_job(
        {"training.dropout=0", "training.optimizer={kind: sgd, learningRate: 0.1}"}, c.ranks,
        fmt::format("batchSize: 7, historyRows: {}, maxAge: {}, delay: {}", c.rows, c.max_age, c.delay));
    HistoricalGcn expected;
    fill_graph(expected, Dataset::open(folder_ / "small"));
    expected.learning_rate = 0.1, expected.delay = c.delay, expected.max_age = c.max_age;
    expected.part.assign(expected.vertices(), -1);
    expected.kept.resize(std::size_t(c.ranks));
    std::vector<HistoricalGcn::Vertices> seeds(static_cast<std::size_t>(steps));
    std::vector<double> got(seeds.size(), 0);
    std::vector<Real> weights;
    std::mutex lock;
    run_ranks(c.ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder_ / "small", 1);
      {
        const std::lock_guard guard(lock);
        look(rank, comm.rank(), c.rows, expected, seeds);
        if (comm.rank() == 0) copy_weights(expected, rank.trainer->parameters());
      }
      for (int step = 0; step < steps; ++step) {
        const double loss = rank.trainer->train_step(step + 1, 0.1);
        const std::lock_guard guard(lock);
        got[std::size_t(step)] += loss;
      }
      const auto values = rank.trainer->parameters().values();
      if (comm.rank() == 0) weights.assign(values.begin(), values.end());
    });
    for (int step = 0; step < steps; ++step)
      ASSERT_NEAR(got[std::size_t(step)], expected.train(step, seeds[std::size_t(step)]), 1e-9) << step;
    std::size_t at = 0;
    for (std::size_t l = 0; l < 3; ++l) {
      for (const auto& row : expected.weight[l])
        for (const double value : row) EXPECT_NEAR(weights[at++], value, 1e-10) << "weight of layer " << l;
      for (const double value : expected.bias[l]) EXPECT_NEAR(weights[at++], value, 1e-10);
    }
    EXPECT_GT(expected.read, 0);
    EXPECT_GT(expected.left_out, 0);
    EXPECT_LE(expected.oldest, c.max_age);
  }
};

/// 18 training vertices in batches of 7: three steps an epoch.
TEST_F(HistoricalSteps, AreTheRecurrences) {
  for (const RecurrenceCase& c : {RecurrenceCase{"two", 2, 1000, 4, 1},
                                  {"three", 3, 1000, 2, 1},
                                  {"six", 6, 1000, 9, 1},
                                  {"delayed", 3, 1000, 4, 3},
                                  {"few_rows", 3, 4, 50, 1},
                                  {"at_once_too_old", 2, 1000, 1, 1}}) {
    SCOPED_TRACE(c.name);
    expect_recurrence(c, 24);
  }
}

class Historical : public testing::TestWithParam<SmallCase> {
 protected:
  void SetUp() override {
    SmallData data = GetParam().data;
    data.splits = 1, data.multi_label = true;
    write_small_data(folder_ / "every_trains", data);
    write_small_data(folder_ / "small", GetParam().data);
  }
  static std::vector<double> losses(const Job& job, const std::filesystem::path& data, int steps,
                                    double rate) {
    std::vector<double> all;
    run_ranks(job.placement.ranks, [&](Communicator& comm) {
      SmallRank rank(comm, job, data, 1);
      for (int step = 0; step < steps; ++step) {
        double loss = rank.trainer->train_step(step + 1, rate);
        comm.all_reduce(Traffic::kStatistics, std::span<double>(&loss, 1));
        if (comm.rank() == 0) all.push_back(loss);
      }
    });
    return all;
  }
  TemporaryFolder folder_;
};

TEST_P(Historical, OnOneRankIsNeighbour) {
  const auto train = [&](const std::string& sampler) {
    return train_small(historical_job(GetParam().fields, 1, "batchSize: 7", sampler, "2"), folder_ / "small",
                       1, 5);
  };
  const SmallResult got = train("historical"), expected = train("neighbour");
  EXPECT_EQ(got.losses, expected.losses);
  EXPECT_EQ(got.weights, expected.weights);
}

/// All vertices in each step: a layer's embeddings are exact a step after those of the layer below, if
/// nothing changes meanwhile.
TEST_P(Historical, IsExactWhereWeightsStayAndAllIsComputed) {
  std::vector<std::string> fields = GetParam().fields;
  for (const char* each : {"training.dropout=0", "training.inputDropout={rate: 0}",
                           "training.loss=binaryCrossEntropy", "training.metric=f1Micro"})
    fields.emplace_back(each);
  if (small_job(fields).model.kind == "gat") fields.emplace_back("training.attentionDropout=0");
  constexpr int kSteps = 6;
  for (const int ranks : {2, 3}) {
    const auto train = [&](const std::string& sampler) {
      return losses(historical_job(fields, ranks, "batchSize: 60", sampler), folder_ / "every_trains", kSteps,
                    0);
    };
    const auto got = train("historical"), exact = train("neighbour");
    EXPECT_GT(std::abs(got[0] / exact[0] - 1), 1e-4) << "nothing is there in the first step";
    EXPECT_NEAR(got[kSteps - 1] / exact[kSteps - 1], 1, 1e-9) << ranks << " ranks";
  }
}

/// Others' embeddings stand for a step as they came, whoever waits for whom.
TEST_P(Historical, ThreadsPrefetchAndStructureChangeNothing) {
  const auto train = [&](const std::string& more) {
    return losses(
        historical_job(GetParam().fields, 3, "batchSize: 7, maxAge: 5, delay: 2" + more, "historical", "2"),
        folder_ / "small", 12, 0.05);
  };
  const auto got = train("");
  EXPECT_NE(got[0], got[3]);
  EXPECT_EQ(train(", prefetch: 7, threads: 3"), got);
  EXPECT_EQ(train(", structure: mapped"), got);
  EXPECT_EQ(train(", cache: {bytes: 2048, policy: presampled}"), got);
}

INSTANTIATE_TEST_SUITE_P(Models, Historical, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });
INSTANTIATE_TEST_SUITE_P(Data, Historical,
                         testing::Values(SmallCase{"weighted_directed",
                                                   {"model.kind=sage", "model.norm=layer"},
                                                   {.weighted = true, .symmetric = false}},
                                         SmallCase{"recomputed",
                                                   {"model.kind=gat", "training.recompute=layer"}}),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
