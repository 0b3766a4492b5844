// Strategy sancus compared with its recurrence on one rank, epoch by epoch; its common cases with strategy
// graph; its bytes and memory.
#include <gmock/gmock.h>
#include <algorithm>

#include "strategies/exchange/exchange.h"
#include "strategies/sancus/sancus.h"
#include "train/every_model.h"
#include "train/stale_gcn.h"

namespace atl {
namespace {

// Sancus' recurrence on one rank, in dense matrices and plain loops: three graph convolutions without
// dropout, trained by gradient descent. What tests hold the exchange against.

/// Graph, parts and first weights are the base's.
class SancusGcn : public StaleGcn {
 public:
  SancusGcn(StaleGcn start, int parts, const SancusOptions& options)
      : StaleGcn(std::move(start)), parts_(std::size_t(parts)), options_(options) {
    for (const Dense& each : weight) {
      cached_.push_back(zeros(vertices(), each.size()));
      ages_.emplace_back(parts_, 0);
      travels_.emplace_back(parts_, true);
    }
  }

  int broadcasts() const { return broadcasts_; }  // of all blocks, since the first epoch

 private:
  void begin_epoch() override { ++epoch; }

  Dense from_others(std::size_t l, const Dense& rows) override {
    send(l, rows);
    return gathered(adjacency, cached_[l], true);
  }

  Dense back_from_others(std::size_t l, const Dense& d_sum) override {
    Dense d = gathered(transposed(adjacency), d_sum, true);
    for (std::size_t v = 0; v < vertices(); ++v)
      if (!options_.gradients_of_cached_rows && !travels_[l][std::size_t(part[v])])
        std::ranges::fill(d[v], 0.0);
    return d;
  }

  /// Each part's rows, where its rule says so, to those who have them cached.
  void send(std::size_t l, const Dense& rows) {
    for (std::size_t p = 0; p < parts_; ++p) {
      const bool due = options_.rule == SancusOptions::Rule::kFixed ? is_due() : has_changed(l, p, rows);
      travels_[l][p] = due;
      broadcasts_ += due;
      ages_[l][p] = due ? 0 : ages_[l][p] + 1;
      for (std::size_t v = 0; due && v < vertices(); ++v)
        if (std::size_t(part[v]) == p) cached_[l][v] = rows[v];
    }
  }

  bool is_due() const {
    return epoch == 1 || epoch <= options_.warmup || (epoch - options_.warmup) % options_.every == 0;
  }

  bool has_changed(std::size_t l, std::size_t p, const Dense& rows) const {
    double change = 0, whole = 0;
    for (std::size_t v = 0; v < vertices(); ++v)
      for (std::size_t c = 0; std::size_t(part[v]) == p && c < rows[v].size(); ++c) {
        const double then = cached_[l][v][c];
        change += (rows[v][c] - then) * (rows[v][c] - then);
        whole += then * then;
      }
    return epoch == 1 || ages_[l][p] >= options_.staleness ||
           std::sqrt(change) > options_.threshold * std::sqrt(whole);
  }

  std::size_t parts_;
  SancusOptions options_;
  int broadcasts_ = 0;
  std::vector<Dense> cached_;               // by convolution, what other parts have
  std::vector<std::vector<int>> ages_;      // by convolution and part: epochs since its rows were sent
  std::vector<std::vector<bool>> travels_;  // in this epoch
};

Job sancus_job(std::vector<std::string> fields, const std::string& options) {
  fields.insert(fields.end(), {"strategy.kind=sancus", "strategy.sancus=" + options});
  return small_job(fields);
}

SancusOptions options_of(const Job& job) {
  const Options& o = job.strategy.options;
  using Rule = SancusOptions::Rule;
  return {o.text("rule") == "fixed" ? Rule::kFixed : Rule::kBounded,
          o.integer("warmup"),
          o.integer("every"),
          o.number("threshold"),
          o.integer("staleness"),
          o.text("gradients") == "always"};
}

class SancusRecurrence : public Recurrence {};

TEST_P(SancusRecurrence, EveryEpochsLossAndTheWeights) {
  const int epochs = 14;
  for (const auto& [ranks, partitioner] : {std::pair(2, "metis"), {3, "hash"}, {4, "range"}, {1, "hash"}}) {
    Job job = sancus_job({"training.dropout=0", "training.optimizer={kind: sgd, learningRate: 0.1}"},
                         GetParam().fields.front());
    if (GetParam().fields.size() > 1) job.training.recompute = Recompute::kLayer;
    job.placement.partitioner.kind = partitioner;
    SancusGcn expected(simulation(job, ranks, epochs), ranks, options_of(job));
    expect_equal(expected, job, ranks, epochs);
    EXPECT_GT(expected.broadcasts(), 2 * ranks) << "more than the first epoch's";
    EXPECT_LT(expected.broadcasts(), 2 * ranks * epochs) << "some are left out";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Variants, SancusRecurrence,
    testing::Values(SmallCase{"fixed", {"{warmup: 4}"}}, SmallCase{"one_of_three", {"{warmup: 0, every: 3}"}},
                    SmallCase{"fixed_gradients_with_rows", {"{warmup: 4, gradients: withRows}"}},
                    SmallCase{"bounded", {"{rule: bounded, threshold: 0.1, staleness: 3}"}},
                    SmallCase{"bounded_with_rows",
                              {"{rule: bounded, threshold: 0.1, staleness: 3, gradients: withRows}"}},
                    SmallCase{"recomputing", {"{warmup: 4}", "training.recompute=layer"}}),
    [](const auto& each) { return each.param.name; });

/// Where every block is broadcast in every epoch, the result is that of strategy graph, for every model,
/// dropout on.
TEST(Sancus, IsStrategyGraphWhereNothingStaysAtHome) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const std::string& model : every_kind()) {
    const std::vector<std::string> fields{"model.kind=" + model, "model.norm=layer"};
    const SmallResult graph = train_small(small_job(fields), folder / "small", 1, 20);
    for (const std::string options :
         {"{every: 1, warmup: 0}", "{rule: bounded, staleness: 0, gradients: withRows}"}) {
      const SmallResult same = train_small(sancus_job(fields, options), folder / "small", 3, 20);
      for (std::size_t e = 0; e < 20; ++e)
        EXPECT_NEAR(same.losses[e], graph.losses[e], 1e-9 * graph.losses[e])
            << model << " " << options << ", epoch " << e + 1;
    }
  }
}

TEST(Sancus, EvaluatesExactly) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Job job =
      sancus_job({"training.optimizer={kind: sgd, learningRate: 0.1}"}, "{warmup: 1, every: 100}");
  const SmallResult cached = train_small(job, folder / "small", 3, 10);
  run_ranks(1, [&](Communicator& comm) {
    SmallRank rank(comm, small_job({}), folder / "small", 1);
    std::ranges::copy(cached.weights, rank.trainer->parameters().values().begin());
    EXPECT_NEAR(rank.trainer->evaluate().validation_loss.value(), cached.validation_loss, 1e-10);
  });
}

/// Bytes that this rank sends for `purpose` in an epoch.
Index sent_in(SmallRank& rank, Communicator& comm, Index epoch, Traffic purpose) {
  const Index before = comm.ledger().bytes(Link::kIntra, purpose);
  rank.trainer->train_epoch(epoch, 0.01);
  return comm.ledger().bytes(Link::kIntra, purpose) - before;
}

TEST(Sancus, SendsNothingOfBlocksThatStayAtHome) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  const Index widths = 8 + 8;  // two layers read the hidden layers' rows
  for (const bool always : {true, false}) {
    const Job job =
        sancus_job({}, fmt::format("{{warmup: 2, every: 2, gradients: {}}}", always ? "always" : "withRows"));
    run_ranks(3, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      const Index owned = rank.data.part().graph->owned, bytes = Index(sizeof(Real)) * widths;
      for (const Index epoch : {1, 2, 3, 4, 5}) {
        const bool stays = epoch == 3 || epoch == 5;
        EXPECT_EQ(sent_in(rank, comm, epoch, Traffic::kHalo), stays ? 0 : 2 * owned * bytes) << epoch;
      }
      EXPECT_EQ(sent_in(rank, comm, 6, Traffic::kHaloGradient), (60 - owned) * bytes);
      EXPECT_EQ(sent_in(rank, comm, 7, Traffic::kHaloGradient), always ? (60 - owned) * bytes : 0);
    });
  }
}

/// As docs/strategies/costs.md derives it: two buffers of the largest block, halo rows of evaluation, and of
/// each layer halo rows and, to tell what has changed, own rows.
TEST(Sancus, HoldsWhatIsDerived) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {});
  for (const bool bounded : {false, true}) {
    const Job job = sancus_job({}, bounded ? "{rule: bounded}" : "{}");
    run_ranks(3, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      const GraphPart& part = rank.data.part();
      const auto of = [](Index rows, Index cols) { return Matrix(rows, cols).held_bytes(); };
      const Index halo = part.graph->halo, owned = part.graph->owned;
      Index largest = 0;
      for (std::size_t r = 0; r < 3; ++r)
        largest = std::max(largest, rank.prepared.part_offsets()[r + 1] - rank.prepared.part_offsets()[r]);
      EXPECT_EQ(rank.trainer->bytes().halo,
                2 * of(largest, 8) + 3 * of(halo, 8) + (bounded ? 2 * of(owned, 8) : 0));
    });
  }
}

}  // namespace

}  // namespace atl
