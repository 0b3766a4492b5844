// The effect of sampled boundary rows on sums and on attention, over many draws.
#include <gmock/gmock.h>

#include "strategies/exchange/exchange.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kDraws = 2000;

/// Mean and variance of many matrices, element by element.
class Moments {
 public:
  void add(ConstMatrixView m) {
    sum_.resize(std::size_t(m.rows * m.cols), 0.0);
    squares_.resize(sum_.size(), 0.0);
    for (Index i = 0; i < m.rows * m.cols; ++i) {
      sum_[std::size_t(i)] += m.data[i];
      squares_[std::size_t(i)] += m.data[i] * m.data[i];
    }
  }
  double mean(std::size_t i) const { return sum_[i] / kDraws; }
  double standard_error(std::size_t i) const {
    const double variance = (squares_[i] - sum_[i] * mean(i)) / (kDraws - 1);
    return std::sqrt(std::max(0.0, variance) / kDraws);
  }
  void expect_around(ConstMatrixView exact, const std::string& what) const {
    ASSERT_EQ(sum_.size(), std::size_t(exact.rows * exact.cols));
    for (std::size_t i = 0; i < sum_.size(); ++i)
      EXPECT_LE(std::abs(mean(i) - exact.data[i]), 4 * standard_error(i) + 1e-6 * std::abs(exact.data[i]))
          << what << ", element " << i << ": " << mean(i) << " for " << exact.data[i];
  }
  double most_error() const {
    double most = 0;
    for (std::size_t i = 0; i < sum_.size(); ++i) most = std::max(most, standard_error(i));
    return most;
  }

 private:
  std::vector<double> sum_, squares_;
};

/// Values that a vertex has wherever its row lies.
Matrix rows_of(std::span<const VertexId> ids, Index cols, std::uint64_t seed) {
  const Draws draws(seed, Purpose::kGenerator);
  Matrix rows(Index(ids.size()), cols);
  for (Index r = 0; r < rows.rows(); ++r)
    for (Index c = 0; c < cols; ++c)
      rows.at(r, c) = Real(2 * draws.uniform_at(std::uint64_t(ids[std::size_t(r)]), std::uint64_t(c)) - 1);
  return rows;
}

/// One rank's aggregation Â h and its way back, by whichever rows an exchange brings.
struct LinearLayer {
  LinearLayer(SmallRank& rank_, Communicator& comm, std::unique_ptr<BoundarySet> boundary_set)
      : rank(rank_), part(rank_.data.part()), sum(part.graph->owned, 2), d_rows(part.graph->owned, 2) {
    exchange =
        make_exact_exchange(rank.ctx, comm, part, {{2, true, false, false}}, true, std::move(boundary_set));
    const auto ids = std::span(part.graph->ids).first(std::size_t(part.graph->owned));
    rows = rows_of(ids, 2, 1), d_sum = rows_of(ids, 2, 2);
  }

  void run(std::int64_t epoch) {
    const Rows in(rows.view());
    const GatherRequest gathered{0, in, Traffic::kHalo};
    exchange->begin(epoch, true);
    Gather& there = exchange->gather(gathered);
    while (const Source* s = there.next()) spmm(rank.ctx, arcs_of(*s->block), s->rows.dense, sum, !s->own);
    Gather& back = exchange->gather_back(gathered, d_rows);
    while (const Source* s = back.next()) spmm(rank.ctx, transposed_arcs_of(*s->block), d_sum, s->d_rows);
    gemm_at(rank.ctx, sum, {}, d_sum, d_weight);
  }

  SmallRank& rank;
  const GraphPart& part;
  std::unique_ptr<Exchange> exchange;
  Matrix rows, d_sum;  // (owned, 2)
  Matrix sum, d_rows;  // (owned, 2)
  Matrix d_weight{2, 2};
};

TEST(BnsDraws, SumsAndGradientsAreUnbiased) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.arc_share = 0.15});
  for (const std::string model : {"gcn", "sage"}) {
    const Job job = small_job({"model.kind=" + model, "placement.partitioner={kind: hash}"});
    run_ranks(3, [&](Communicator& comm) {
      SmallRank rank(comm, job, folder / "small", 1);
      const GraphPart& part = rank.data.part();
      LinearLayer exact(rank, comm, nullptr);
      exact.run(1);
      LinearLayer sampled(rank, comm,
                          make_sampled_boundary_set(rank.ctx, *part.graph, part.outer, {0.3, 1, false}));
      Moments sums, back, weight;
      for (int e = 1; e <= kDraws; ++e) {
        sampled.run(e);
        sums.add(sampled.sum);
        back.add(sampled.d_rows);
        weight.add(sampled.d_weight);
      }
      sums.expect_around(exact.sum, model + " sums");
      back.expect_around(exact.d_rows, model + " gradients of rows");
      weight.expect_around(exact.d_weight, model + " gradient of the weight");
      EXPECT_GT(sums.most_error(), 1e-4) << "draws differ";
    });
  }
}

/// How a sampled arc is made to stand for those that weren't drawn.
enum class Correction { kNone, kWeight, kAfterSoftmax };

/// One rank's attention with one head; the rows (owned, 1) are their own scores.
class AttentionLayer {
 public:
  AttentionLayer(SmallRank& rank, Communicator& comm, std::unique_ptr<BoundarySet> boundary_set)
      : rank_(rank), out_(rank.data.part().graph->owned, 1) {
    exchange_ = make_exact_exchange(rank.ctx, comm, rank.data.part(), {{1, true, false, false}}, true,
                                    std::move(boundary_set));
  }

  ConstMatrixView run(std::int64_t epoch, const Matrix& z, Correction correction = Correction::kWeight) {
    Context& ctx = rank_.ctx;
    Matrix max(out_.rows(), 1), sum(out_.rows(), 1), dst_score(out_.rows(), 1);
    dst_score.zero();
    const Softmaxes softmaxes{{max, sum}, out_};
    softmax_begin(ctx, softmaxes);
    exchange_->begin(epoch, true);
    const Rows in(z.view());
    Gather& sources = exchange_->gather({0, in, Traffic::kHalo});
    while (const Source* source = sources.next()) {
      const Source& s = *source;
      Attention a;
      a.arcs = arcs_of(*s.block);
      const float* weights = a.arcs.csr.weights;
      const bool sampled = weights != nullptr;
      if (correction != Correction::kWeight) a.arcs.csr.weights = nullptr;
      static constexpr ScratchKey kRows;
      MatrixView rows = ctx.workspace->matrix(kRows, s.rows.rows(), 1);
      const bool scaled = sampled && correction == Correction::kAfterSoftmax;
      axpby(ctx, scaled ? Real(weights[0]) : Real(1), s.rows.dense, 0, rows);  // one peer: one weight
      attention_add(ctx, a, rows, dst_score, s.rows.dense, softmaxes);
    }
    attention_finish(ctx, softmaxes);
    return out_.view();
  }

 private:
  SmallRank& rank_;
  std::unique_ptr<Exchange> exchange_;
  Matrix out_;  // (owned, 1)
};

/// Weights of a vertex's sampled arcs add up to 1, and rows that weren't drawn take no part: constant rows
/// come out as they went in, whatever the sample.
TEST(BnsDraws, AttentionOverASampleIsAMean) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.arc_share = 0.15});
  const Job job = small_job({"model.kind=gat", "placement.partitioner={kind: hash}"});
  run_ranks(3, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const GraphPart& part = rank.data.part();
    AttentionLayer layer(rank, comm,
                         make_sampled_boundary_set(rank.ctx, *part.graph, part.outer, {0.2, 1, true}));
    Matrix z(part.graph->owned, 1);
    fill(rank.ctx, Real(0.7), z);
    for (int e = 1; e <= 10; ++e) {
      const ConstMatrixView out = layer.run(e, z);
      for (Index r = 0; r < out.rows; ++r) ASSERT_NEAR(out.at(r, 0), 0.7, 1e-6) << "row " << r;
    }
  });
}

/// Sum over a rank's vertices of how far attention's mean over draws is from attention over all rows.
double attention_bias(SmallRank& rank, Communicator& comm, const Matrix& z, Correction correction) {
  const GraphPart& part = rank.data.part();
  AttentionLayer exact(rank, comm, nullptr);
  AttentionLayer sampled(rank, comm,
                         make_sampled_boundary_set(rank.ctx, *part.graph, part.outer, {0.25, 1, true}));
  Moments moments;
  for (int e = 1; e <= kDraws; ++e) moments.add(sampled.run(e, z, correction));
  const ConstMatrixView whole = exact.run(1, z);
  double bias = 0;
  for (Index r = 0; r < whole.rows; ++r) bias += std::abs(moments.mean(std::size_t(r)) - whole.at(r, 0));
  return bias;
}

/// A weight on exp(score), in numerator and denominator, against none and against one that scales after
/// normalising.
TEST(BnsDraws, AttentionIsLeastBiasedWithTheWeightInsideTheSoftmax) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.vertices = 100, .arc_share = 0.3});
  const Job job = small_job({"model.kind=gat", "placement.partitioner={kind: range}"});
  run_ranks(2, [&](Communicator& comm) {
    SmallRank rank(comm, job, folder / "small", 1);
    const LocalGraph& graph = *rank.data.part().graph;
    Matrix z = rows_of(std::span(graph.ids).first(std::size_t(graph.owned)), 1, 3);
    for (Index r = 0; r < z.rows(); ++r) z.at(r, 0) += Real(comm.rank());  // so that parts differ
    const double inside = attention_bias(rank, comm, z, Correction::kWeight);
    EXPECT_LT(inside, 0.2 * attention_bias(rank, comm, z, Correction::kNone));
    EXPECT_LT(inside, 0.2 * attention_bias(rank, comm, z, Correction::kAfterSoftmax));
  });
}

}  // namespace
}  // namespace atl
