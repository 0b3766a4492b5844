// The column axis of the seam: three ranks, each with a third of the features' columns and a third of the
// rows, compute a first layer, its gradients and an update as one rank with everything does.
#include <gtest/gtest.h>

#include <map>

#include "model/finished_layer.h"
#include "model/listed_sources.h"
#include "train/gradient.h"
#include "train/optimizer.h"
#include "train/small_job.h"

namespace atl {
namespace {

constexpr int kRanks = 3;
constexpr std::uint64_t kSeed = 4;

/// Where a rank's share of so many begins.
Index share(Index all, int rank, int ranks) {
  return all * rank / ranks;
}

/// The ranks of a group that hold columns of the same rows.
class SharedColumns final : public Columns {
 public:
  SharedColumns(Communicator& comm, std::span<const VertexId> ids) : comm_(comm), ids_(ids) {}

  MatrixView summands(Index cols) override {
    summands_.resize(rows(), cols);
    return summands_;
  }
  void begin_whole(MatrixView summands, Rounding) override {
    cols_ = summands.cols;
    const Index own = count(comm_.rank());
    arrived_.resize(own * comm_.size(), summands.cols);
    for (int peer = 0; peer < comm_.size(); ++peer) {
      const MatrixView theirs = of(peer, summands), here = arrived_.view().slice_rows(peer * own, own);
      if (peer == comm_.rank()) {
        for (Index i = 0; i < own * summands.cols; ++i) here.data[i] = theirs.data[i];
        continue;
      }
      sends_.push_back({peer, theirs});
      receives_.push_back({peer, here});
    }
    exchange();
  }
  void end_whole(FunctionRef<void(MatrixView)> add) override {
    under_way_.wait();
    const Index own = count(comm_.rank());
    for (int peer = 0; peer < comm_.size(); ++peer) add({arrived_.data() + peer * own * cols_, own, cols_});
  }
  void begin_spread(Index cols, Rounding, FunctionRef<void(MatrixView)> write) override {
    spread_.resize(rows(), cols);
    const MatrixView own = of(comm_.rank(), spread_);
    write(own);
    for (int peer = 0; peer < comm_.size(); ++peer) {
      if (peer == comm_.rank()) continue;
      sends_.push_back({peer, own});
      receives_.push_back({peer, of(peer, spread_)});
    }
    exchange();
  }
  MatrixView end_spread() override {
    under_way_.wait();
    return spread_;
  }
  void sum(MatrixView values) override {
    comm_.all_reduce(Traffic::kHalo, std::span<Real>(values.data, std::size_t(values.rows * values.cols)));
  }

 private:
  Index rows() const { return Index(ids_.size()); }
  Index count(int rank) const {
    return share(rows(), rank + 1, comm_.size()) - share(rows(), rank, comm_.size());
  }
  MatrixView of(int rank, MatrixView all) const {
    return all.slice_rows(share(rows(), rank, comm_.size()), count(rank));
  }
  void exchange() {
    under_way_ = comm_.exchange(Lane::kBulk, Traffic::kHalo, sends_, receives_);
    sends_.clear(), receives_.clear();
  }

  Communicator& comm_;
  std::span<const VertexId> ids_;
  Index cols_ = 0;
  Matrix summands_, arrived_, spread_;
  std::vector<RowsTo> sends_;
  std::vector<RowsFrom> receives_;
  Event under_way_;
};

/// The first layer over all rows; the rank owns some of them.
class FirstLayer final : public Verbs {
 public:
  FirstLayer(Context& ctx, Communicator& comm, const Block& block, Columns* columns, Index first_column)
      : Verbs(ctx), block_(block), begin_(share(block.dst(), comm.rank(), comm.size())) {
    const Index count = share(block.dst(), comm.rank() + 1, comm.size()) - begin_;
    state_ = {.training = true,
              .seed = kSeed,
              .step = 1,
              .destinations = count,
              .ids = block.dst_ids.subspan(std::size_t(begin_), std::size_t(count)),
              .reduced_rows = double(block.dst())};
    if (columns == nullptr) return;
    state_.columns = columns;
    state_.first_column = first_column;
    state_.group_ids = block.dst_ids;
  }

  Index begin() const { return begin_; }
  Gather& gather(const Rows& rows) override { return sources_.begin({{&block_, rows, 0, true, true, {}}}); }
  Gather& gather_back(const Rows& rows, MatrixView) override { return gather(rows); }
  void reduce(std::span<double>) override {}

 private:
  const Block& block_;
  Index begin_;
  ListedSources sources_;
};

struct Learned {
  std::map<Index, std::vector<Real>> out;              // by row: what the layer made of it
  std::map<std::string, std::vector<Real>> gradients;  // by parameter and row of it
  std::map<std::string, std::vector<Real>> weights;    // likewise, after a step
};

void keep_rows(const Parameters::Entry& e, std::span<const Real> values,
               std::map<std::string, std::vector<Real>>& all) {
  const Real* at = values.data() + e.offset;
  for (const RowRange& range : e.placement.rows) {
    for (Index row = range.begin; row < range.begin + range.count; ++row, at += e.spec.cols)
      all[fmt::format("{} row {}", e.spec.name, row)].assign(at, at + e.spec.cols);
  }
}

/// What one rank of `comm` computes.
Learned compute(Communicator& comm, SmallRank& rank, const Job& job) {
  const RankData data(job, rank.dataset, rank.prepared, 0);
  const GraphPart& whole = data.training_part();
  const Index all = whole.features.cols(), first = share(all, comm.rank(), comm.size());
  const Index columns = share(all, comm.rank() + 1, comm.size()) - first, rows = whole.graph->owned;
  const Model model =
      make_model(job.model, job.training, {columns, data.classes(), false, DropsOut::kMakers, false, all});
  const auto place = [&](int layer, const ParameterSpec& spec) {
    if (comm.size() == 1 || layer > 0 || spec.input_blocks == 0) return Placement{};
    return Placement{rows_of_input(spec, first, columns), {comm.rank()}};
  };
  Parameters parameters(model.parameters(), kSeed, place);
  SharedColumns shared(comm, whole.own.dst_ids);
  FirstLayer verbs(rank.ctx, comm, whole.own, comm.size() == 1 ? nullptr : &shared, first);
  const Layer& layer = *model.layers.front();
  EXPECT_TRUE(layer.spec().gathers);
  const LayerRows sizes{rows, verbs.state().destinations, rows, {rows}};
  Matrix memory(1, Saved::reals(layer.spec().saved, sizes, Storage::kReals)),
      out(verbs.state().destinations, layer.spec().out);
  Saved saved;
  saved.place(layer.spec().saved, sizes, Storage::kReals, memory.data());
  Matrix here(rows, columns);
  for (Index r = 0; r < rows; ++r)
    for (Index c = 0; c < columns; ++c) here.at(r, c) = whole.features.dense.at(r, first + c);
  const LayerInput input{Rows(here.view()), Rows(here.view()), {}};
  layer.forward(verbs, {parameters.present(), 0}, input, saved, out);
  Learned learned;
  Matrix d_out(out.rows(), out.cols());
  const Draws draws(9, Purpose::kSampling);
  for (Index r = 0; r < out.rows(); ++r) {
    learned.out[verbs.begin() + r].assign(out.view().row(r), out.view().row(r) + out.cols());
    for (Index c = 0; c < out.cols(); ++c)
      d_out.at(r, c) = Real(draws.uniform_at(std::uint64_t(verbs.begin() + r), std::uint64_t(c)) - 0.5);
  }
  const LayerWeights weights{parameters.present(), 0};
  if (verbs.state().columns == nullptr) {
    layer.backward(verbs, weights, input, saved, out, d_out, {});
  } else {
    const ColumnLayer& by_columns = *layer.by_columns();
    by_columns.backward_whole(verbs, weights, saved, out, d_out);
    by_columns.backward_columns(verbs, weights, input, saved, {});
  }
  Gradient gradient(rank.ctx, comm, parameters);
  Optimizer optimizer(job.training.optimizer, parameters);
  gradient.sum(rank.ctx);
  for (const Parameters::Entry& e : parameters.entries())
    if (e.layer == 0 && e.spec.trainable) keep_rows(e, parameters.gradients(), learned.gradients);
  take_step(rank.ctx, optimizer, 0.01);
  for (const Parameters::Entry& e : parameters.entries())
    if (e.layer == 0) keep_rows(e, parameters.values(), learned.weights);
  return learned;
}

Learned compute_on(int ranks, const SmallCase& c, const std::filesystem::path& data) {
  std::vector<Learned> by_rank(static_cast<std::size_t>(ranks));
  run_ranks(ranks, [&](Communicator& comm) {
    run_ranks(1, [&](Communicator& alone) {
      const Job job = small_job(c.fields);
      SmallRank rank(alone, job, data, 1);
      by_rank[std::size_t(comm.rank())] = compute(comm, rank, job);
    });
  });
  for (std::size_t r = 1; r < by_rank.size(); ++r) {
    by_rank[0].out.merge(by_rank[r].out);
    by_rank[0].gradients.merge(by_rank[r].gradients);
    by_rank[0].weights.merge(by_rank[r].weights);
  }
  return by_rank[0];
}

template <class Key>
void expect_same(const std::map<Key, std::vector<Real>>& split, const std::map<Key, std::vector<Real>>& one,
                 const char* what) {
  ASSERT_EQ(split.size(), one.size()) << what;
  for (const auto& [key, values] : one) {
    ASSERT_EQ(split.at(key).size(), values.size());
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_NEAR(split.at(key)[i], values[i], 1e-9) << what << " " << key;
  }
}

class ColumnAxis : public testing::TestWithParam<SmallCase> {};

TEST_P(ColumnAxis, ThreeRanksComputeWhatOneComputes) {
  TemporaryFolder folder;
  write_small_data(folder / "small", {.features = 11});
  const Learned one = compute_on(1, GetParam(), folder / "small"),
                split = compute_on(kRanks, GetParam(), folder / "small");
  expect_same(split.out, one.out, "row");
  expect_same(split.gradients, one.gradients, "gradient of");
  expect_same(split.weights, one.weights, "weight");
}

const std::string kDropped = "training.inputDropout={rate: 0.3, position: beforeAggregation}";

// Of 11 columns three or four are here: with 16 hidden ones every rank aggregates first, with 2 none does.
INSTANTIATE_TEST_SUITE_P(
    Models, ColumnAxis,
    testing::Values(SmallCase{"gcn_aggregates_first", {"model.hidden=16", kDropped}},
                    SmallCase{"gcn_transforms_first", {"model.hidden=2", "model.norm=layer", kDropped}},
                    SmallCase{"sage_aggregates_first",
                              {"model.kind=sage", "model.hidden=16", "model.norm=layer", kDropped}},
                    SmallCase{"sage_transforms_first", {"model.kind=sage", "model.hidden=2", kDropped}},
                    SmallCase{"gin_aggregates_first",
                              {"model.kind=gin", "model.hidden=16", "model.norm=layer", kDropped}},
                    SmallCase{"gin_transforms_first",
                              {"model.kind=gin", "model.hidden=2", "model.norm=none",
                               "model.options={epsilon: 0.5}", kDropped}},
                    SmallCase{"gat",
                              {"model.kind=gat", "model.hidden=3", "model.options={heads: 2}",
                               "training.attentionDropout=0.2", kDropped}}),
    [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
