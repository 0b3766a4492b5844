// The layer axis of the seam: two ranks with half of the layers each, in a pipeline of chunks, learn what one
// rank with all layers learns.
#include <gtest/gtest.h>

#include <map>

#include "train/every_model.h"
#include "train/gnnpipe_oracles.h"

namespace atl {
namespace {

constexpr Real kRate = Real(0.05);
constexpr int kEpochs = 4;

/// One rank's layers of the model, with the whole graph.
class Stage {
 public:
  /// `stages` has a rank for each range.
  Stage(SmallRank& rank, Communicator& stages, const std::vector<LayerRange>& ranges, int chunks)
      : rank_(rank),
        stages_(stages),
        data_(rank.job, rank.dataset, rank.prepared, 0),
        range_(ranges[std::size_t(stages.rank())]),
        model_(make_model(rank.job.model, rank.job.training,
                          {whole().features.cols(), data_.classes(), false, DropsOut::kReaders})),
        parameters_(model_.parameters(), rank.job.training.seed),
        pass_(rank.ctx, whole(), model_, equal_chunks(whole().graph->owned, chunks), rank.job.training.seed),
        runner_(rank.ctx, model_, nullptr) {
    for (const auto& each : model_.layers)
      if (each->spec().tap >= 0 && each->spec().tap < ranges.back().first) tapped_ = each->spec().tap;
    for (int c = 0; c < chunks; ++c) {
      memories_.emplace_back(Device::kCpu, model_, range_, Passes::kTraining);
      std::vector<LayerRows> rows;
      for (int l = range_.first; l < range_.end; ++l) rows.push_back(pass_.rows(c, l));
      memories_.back().shape(rows);
      boundary_set_.emplace_back();
    }
  }

  double train_epoch(int epoch) {
    loss_ = 0;
    pass_.begin_epoch(epoch);
    parameters_.zero_gradients(rank_.ctx);
    for (int c = 0; c < chunks(); ++c) forward(c);
    for (int c = chunks() - 1; c >= 0; --c) backward(c);
    const auto values = parameters_.trainable(), gradients = parameters_.gradients();
    for (std::size_t i = 0; i < values.size(); ++i) values[i] -= kRate * gradients[i];
    return loss_;
  }

  /// Of this rank's layers.
  void add_weights(std::map<std::string, std::vector<Real>>& all) {
    for (const Parameters::Entry& e : parameters_.entries()) {
      const auto held = parameters_.values().subspan(std::size_t(e.offset), std::size_t(e.count));
      if (range_.contains(e.layer)) all[e.spec.name].assign(held.begin(), held.end());
    }
  }

 private:
  struct BoundarySet {  // what enters a stage of one chunk: rows and tap, and their gradients
    Matrix rows, tap, d_rows, d_tap;
  };

  const GraphPart& whole() const { return data_.training_part(); }
  int chunks() const { return int(memories_.size()); }
  bool is_first() const { return range_.first == 0; }
  bool is_last() const { return range_.end == int(model_.layers.size()); }
  Index count(int c) const { return pass_.end(c) - pass_.begin(c); }

  void swap(int peer, const std::vector<MatrixView>& out, const std::vector<MatrixView>& in) {
    std::vector<RowsTo> sends;
    std::vector<RowsFrom> receives;
    for (const MatrixView& each : out) sends.push_back({peer, each});
    for (const MatrixView& each : in) receives.push_back({peer, each});
    stages_.exchange(Lane::kBulk, Traffic::kHalo, sends, receives).wait();
  }

  RangeInput input(int c) {
    if (is_first()) return {Rows(whole().features.dense.slice_rows(pass_.begin(c), count(c))), {}};
    BoundarySet& boundary_set = boundary_set_[std::size_t(c)];
    return {Rows(boundary_set.rows.view()), boundary_set.tap.view()};
  }

  void forward(int c) {
    pass_.at_chunk(c);
    PassMemory& memory = memories_[std::size_t(c)];
    BoundarySet& boundary_set = boundary_set_[std::size_t(c)];
    if (!is_first()) {
      const Index width = model_.spec(range_.first).in;
      boundary_set.rows.resize(count(c), width), boundary_set.d_rows.resize(count(c), width);
      std::vector<MatrixView> enters{boundary_set.rows};
      if (tapped_ >= 0) {
        const Index tap_width = model_.spec(tapped_).out;
        boundary_set.tap.resize(count(c), tap_width), boundary_set.d_tap.resize(count(c), tap_width);
        boundary_set.d_tap.zero();
        enters.push_back(boundary_set.tap);
      }
      swap(stages_.rank() - 1, {}, enters);
    }
    runner_.forward(pass_, parameters_.present(), memory, input(c));
    if (is_last()) return;
    std::vector<MatrixView> leaves{memory.output(range_.end - 1)};
    if (tapped_ >= 0) leaves.push_back(memory.output(tapped_));
    swap(stages_.rank() + 1, leaves, {});
  }

  /// The tap's gradient of the stage that comes after is one more summand of the tapped layer's.
  void backward(int c) {
    pass_.at_chunk(c);
    PassMemory& memory = memories_[std::size_t(c)];
    BoundarySet& boundary_set = boundary_set_[std::size_t(c)];
    Matrix d_tap;
    if (is_last()) {
      lose(c, memory);
    } else {
      std::vector<MatrixView> enters{memory.d_output()};
      if (tapped_ >= 0) {
        d_tap.resize(count(c), model_.spec(tapped_).out);
        enters.push_back(d_tap);
      }
      swap(stages_.rank() + 1, {}, enters);
    }
    RangeGradient gradient;
    if (!is_first()) gradient = {boundary_set.d_rows, boundary_set.d_tap};
    gradient.tapped = d_tap;
    runner_.backward(pass_, parameters_.present(), memory, input(c), gradient, nullptr);
    if (is_first()) return;
    std::vector<MatrixView> leaves{boundary_set.d_rows};
    if (tapped_ >= 0) leaves.push_back(boundary_set.d_tap);
    swap(stages_.rank() - 1, leaves, {});
  }

  void lose(int c, PassMemory& memory) {
    std::vector<VertexId> rows;
    for (const VertexId row : data_.training_rows())
      if (Index(row) >= pass_.begin(c) && Index(row) < pass_.end(c))
        rows.push_back(VertexId(row - pass_.begin(c)));
    cross_entropy(rank_.ctx, memory.output(range_.end - 1), data_.training_labels().classes + pass_.begin(c),
                  rows, Real(0.1), memory.d_output(), &loss_);
  }

  SmallRank& rank_;
  Communicator& stages_;
  RankData data_;  // the trainer may have released the features of its own
  LayerRange range_;
  Model model_;
  Parameters parameters_;
  ChunkedPass pass_;
  LayerRunner runner_;
  std::vector<PassMemory> memories_;  // by chunk
  std::vector<BoundarySet> boundary_set_;
  int tapped_ = -1;  // the layer whose output crosses
  double loss_ = 0;
};

struct Learned {
  std::vector<double> losses;
  std::map<std::string, std::vector<Real>> weights;
};

Learned learn(const SmallCase& c, const std::filesystem::path& data, const std::vector<LayerRange>& ranges,
              int chunks) {
  std::vector<Learned> all(ranges.size());
  run_ranks(int(ranges.size()), [&](Communicator& stages) {
    run_ranks(1, [&](Communicator& alone) {
      SmallRank rank(alone, small_job(c.fields), data, 1);
      Stage stage(rank, stages, ranges, chunks);
      Learned& mine = all[std::size_t(stages.rank())];
      for (int epoch = 1; epoch <= kEpochs; ++epoch) mine.losses.push_back(stage.train_epoch(epoch));
      stage.add_weights(mine.weights);
    });
  });
  for (std::size_t s = 0; s + 1 < all.size(); ++s) all.back().weights.merge(all[s].weights);
  return all.back();
}

class LayerAxis : public testing::TestWithParam<SmallCase> {};

TEST_P(LayerAxis, TwoStagesLearnWhatOneRankLearns) {
  TemporaryFolder folder;
  write_small_data(folder / "small", GetParam().data);
  int layers = 0;
  run_ranks(1, [&](Communicator& alone) {
    SmallRank rank(alone, small_job(GetParam().fields), folder / "small", 1);
    layers =
        int(make_model(rank.job.model, rank.job.training, {6, 3, false, DropsOut::kReaders}).layers.size());
  });
  for (const int chunks : {1, 4}) {
    const Learned one = learn(GetParam(), folder / "small", {{0, layers}}, chunks);
    const Learned two = learn(GetParam(), folder / "small", {{0, layers / 2}, {layers / 2, layers}}, chunks);
    EXPECT_NE(one.losses.front(), one.losses.back()) << chunks << " chunks learn nothing";
    for (int e = 0; e < kEpochs; ++e)
      EXPECT_NEAR(two.losses[std::size_t(e)] / one.losses[std::size_t(e)], 1, 1e-12)
          << chunks << " chunks, epoch " << e + 1;
    ASSERT_EQ(two.weights.size(), one.weights.size());
    for (const auto& [name, values] : one.weights)
      for (std::size_t i = 0; i < values.size(); ++i)
        ASSERT_NEAR(two.weights.at(name)[i], values[i], 1e-12) << chunks << " chunks, " << name << " " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Models, LayerAxis, testing::ValuesIn(every_model()),
                         [](const auto& each) { return each.param.name; });

}  // namespace
}  // namespace atl
