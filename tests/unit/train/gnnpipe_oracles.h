// What GNNPipe computes, in two other ways: a pass over chunks that sends nothing, and plain loops.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <vector>

#include "model/listed_sources.h"
#include "strategies/exchange/exchange.h"
#include "strategies/schedule/layer_runner.h"
#include "train/stale_parts.h"

namespace atl {

/// The bounds of `chunks` chunks of equal size.
inline std::vector<Index> equal_chunks(Index rows, int chunks) {
  std::vector<Index> bounds;
  for (int c = 0; c <= chunks; ++c) bounds.push_back(rows * c / chunks);
  return bounds;
}

/// A rank's layers over chunks of all rows, as a stage runs them: forward in an epoch's order, backward in
/// the reverse order. Sources are this epoch's rows of finished chunks, and an earlier epoch's rows of the
/// others, which take no gradient. Every rank has the whole graph, so only a range's outputs are sent. Simple
/// rather than fast: every chunk reads all rows, and arcs select among them.
class ChunkedPass final : public Pass {
 public:
  /// bounds: (chunks + 1) the rows at which chunks begin.
  ChunkedPass(Context& ctx, const GraphPart& whole, const Model& model, const std::vector<Index>& bounds,
              std::uint64_t seed)
      : Pass(ctx), whole_(whole) {
    state_.seed = seed;
    state_.training = true;
    for (std::size_t c = 0; c + 1 < bounds.size(); ++c) {
      chunks_.push_back({bounds[c], bounds[c + 1], {}, {}, {}});
      order_.push_back(int(c));
      for (Index row = bounds[c]; row < bounds[c + 1]; ++row) chunk_of_[whole.ids[std::size_t(row)]] = int(c);
    }
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      layers_.emplace_back();
      for (Matrix* each : {&layers_[l].present, &layers_[l].history, &layers_[l].gradient}) {
        each->resize(whole.graph->owned, l == 0 ? 0 : model.layers[l]->spec().gathered_columns());
        each->zero();
      }
    }
  }

  /// The chunk's rows in any layer of the model.
  LayerRows rows(int chunk, int layer) const {
    const Chunk& c = chunks_[std::size_t(chunk)];
    const Index count = c.end - c.begin, all = whole_.graph->owned;
    if (layer == 0) return {count, count, count, {all}};
    return {count, count, count, {all, all}};
  }
  Index begin(int chunk) const { return chunks_[std::size_t(chunk)].begin; }
  Index end(int chunk) const { return chunks_[std::size_t(chunk)].end; }

  /// order: of the chunks; empty: by number. refresh: the history becomes the previous epoch's rows.
  void begin_epoch(std::int64_t epoch, const std::vector<int>& order = {}, bool refresh = true) {
    state_.step = epoch;
    if (!order.empty()) order_ = order;
    for (Layer& each : layers_) {
      if (refresh) std::swap(each.present, each.history);
      each.gradient.zero();
    }
    const auto place = [&](int chunk) { return std::ranges::find(order_, chunk) - order_.begin(); };
    for (std::size_t c = 0; c < chunks_.size(); ++c) {
      const auto arcs = [&](bool fresh, bool stale) {
        const auto is_kept = [&](VertexId, VertexId source) {
          return place(chunk_of_.at(source)) <= place(int(c)) ? fresh : stale;
        };
        return std::make_unique<SomeArcs>(whole_.own, SomeArcs::Range{chunks_[c].begin, chunks_[c].end},
                                          SomeArcs::Range{0, whole_.graph->owned}, false, is_kept);
      };
      chunks_[c].fresh = arcs(true, false), chunks_[c].stale = arcs(false, true);
      chunks_[c].features = arcs(true, true);
    }
  }
  void at_chunk(int chunk) {
    chunk_ = &chunks_[std::size_t(chunk)];
    state_.destinations = chunk_->end - chunk_->begin;
    state_.ids = chunk_->features->block().dst_ids;
    state_.reduced_rows = double(state_.destinations);
  }

  void reduce(std::span<double>) override {}
  void bind(int layer) override { layer_ = layer; }

  Gather& gather(const Rows& rows) override {
    if (layer_ == 0)
      return sources_.begin({{&chunk_->features->block(), whole_.features, 0, false, true, {}}});
    Layer& layer = layers_[std::size_t(layer_)];
    axpby(ctx_, 1, rows.dense, 0, own(layer.present));
    return sources_.begin(blocks(layer, {}));
  }

  Gather& gather_back(const Rows& rows, MatrixView d_rows) override {
    if (layer_ == 0) return gather(rows);
    Layer& layer = layers_[std::size_t(layer_)];
    d_fresh_.resize(whole_.graph->owned, d_rows.cols);
    return sources_.begin(blocks(layer, d_fresh_), [this, &layer, d_rows] {
      axpby(ctx_, 1, d_fresh_, 1, layer.gradient);
      axpby(ctx_, 1, own(layer.gradient), 0,
            d_rows);  // later chunks read it, and their backward has run before
    });
  }

 private:
  struct Chunk {
    Index begin, end;
    std::unique_ptr<SomeArcs> fresh, stale, features;
  };
  struct Layer {
    Matrix present, history, gradient;  // (rows, columns) of the layer's gathered input
  };
  MatrixView own(Matrix& all) const {
    return all.view().slice_rows(chunk_->begin, chunk_->end - chunk_->begin);
  }

  std::vector<Source> blocks(Layer& layer, MatrixView d_fresh) {
    return {{&chunk_->fresh->block(), Rows(layer.present.view()), 0, false, false, d_fresh},
            {&chunk_->stale->block(), Rows(layer.history.view()), 1, false, false, {}}};
  }

  const GraphPart& whole_;
  std::vector<Chunk> chunks_;
  std::map<VertexId, int> chunk_of_;  // by vertex of the data set
  std::vector<int> order_;
  std::vector<Layer> layers_;
  const Chunk* chunk_ = nullptr;
  int layer_ = 0;
  ListedSources sources_;
  Matrix d_fresh_;
};

/// GNNPipe's recurrence (Chen et al. 2023, algorithm 1 and section 3.3) in dense matrices and plain loops:
/// convolutions without dropout, trained by gradient descent. It shares no code with strategy `gnnpipe`.
struct ChunkedGnn {
  Dense adjacency;         // weights of neighbours' rows in a convolution
  std::vector<int> chunk;  // (vertices)
  Dense features;
  std::vector<int> labels;  // (vertices); −1: not trained on
  double learning_rate = 0.1;
  std::vector<Dense> weight;              // by convolution, for neighbours' rows
  std::vector<Dense> self_weight;         // for the vertex's own row; empty: it isn't read (GCN)
  std::vector<std::vector<double>> bias;  // by convolution

  // Options, in the words of docs/manifest.md:
  int alpha = 23;                     // epoch t reads stale rows of epoch α⌊(t − 1)/α⌋ …
  bool first_epoch_is_kept = true;    // … and, where that is epoch 0, rows of epoch 1 instead of zeros
  bool historical_gradients = false;  // a stale row gets its gradient an epoch later
  double gradient_scale = 1;          // of the gradients that an aggregation sends to its sources

  int epoch = 0;                           // the last one trained
  std::vector<std::vector<Dense>> inputs;  // [epoch][convolution]: input rows; of epoch 0, zeros
  std::vector<Dense> historical;  // [convolution]: gradients of this epoch's stale rows, for the next epoch

  std::size_t vertices() const { return features.size(); }
  std::size_t layers() const { return weight.size(); }
  int history_epoch() const {
    const int last = alpha * ((epoch - 1) / alpha);
    return last == 0 && first_epoch_is_kept && epoch > 1 ? 1 : last;
  }

  /// Trains one epoch over the chunks in that order, backward in the reverse order, with one update; returns
  /// its loss.
  double train(const std::vector<int>& order) {
    begin_epoch(order);
    for (const int c : order) forward(c);
    std::vector<Dense> gradient = historical_gradients ? historical : of_inputs();
    historical = of_inputs();
    d_weight_.clear(), d_self_.clear(), d_bias_.clear();
    for (std::size_t l = 0; l < layers(); ++l) {
      d_weight_.push_back(zeros(weight[l].size(), weight[l][0].size()));
      if (!self_weight.empty()) d_self_.push_back(d_weight_.back());
      d_bias_.emplace_back(bias[l].size(), 0.0);
    }
    double loss = 0;
    for (auto c = order.rbegin(); c != order.rend(); ++c) loss += backward(*c, gradient);
    for (std::size_t l = 0; l < layers(); ++l) {
      descend(weight[l], d_weight_[l]);
      if (!self_weight.empty()) descend(self_weight[l], d_self_[l]);
      for (std::size_t k = 0; k < bias[l].size(); ++k) bias[l][k] -= learning_rate * d_bias_[l][k];
    }
    return loss;
  }

 private:
  /// Zeros, (vertices, in) for each convolution.
  std::vector<Dense> of_inputs() const {
    std::vector<Dense> all;
    for (const Dense& w : weight) all.push_back(zeros(vertices(), w.size()));
    return all;
  }
  void begin_epoch(const std::vector<int>& order) {
    if (epoch++ == 0) inputs.push_back(of_inputs()), historical = of_inputs();
    inputs.push_back(of_inputs());
    inputs.back()[0] = features;
    sums_ = of_inputs();
    out_ = zeros(vertices(), bias.back().size());
    place_.assign(order.size(), 0);
    for (std::size_t p = 0; p < order.size(); ++p) place_[std::size_t(order[p])] = int(p);
  }
  /// Whether i reads j's row of this epoch, because j's chunk has been computed, or is i's own.
  bool is_fresh(std::size_t i, std::size_t j) const {
    return place_[std::size_t(chunk[j])] <= place_[std::size_t(chunk[i])];
  }
  std::vector<std::size_t> rows_of(int c) const {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < vertices(); ++i)
      if (chunk[i] == c) rows.push_back(i);
    return rows;
  }

  void forward(int c) {
    std::vector<Dense>& now = inputs[std::size_t(epoch)];
    const std::vector<Dense>& history = inputs[std::size_t(history_epoch())];
    for (std::size_t l = 0; l < layers(); ++l)
      for (const std::size_t i : rows_of(c)) {
        for (std::size_t j = 0; j < vertices(); ++j) {
          const Dense& read = l == 0 || is_fresh(i, j) ? now[l] : history[l];  // features are never stale
          for (std::size_t k = 0; k < read[j].size(); ++k) sums_[l][i][k] += adjacency[i][j] * read[j][k];
        }
        std::vector<double> row = bias[l];
        add_product(sums_[l][i], weight[l], row);
        if (!self_weight.empty()) add_product(now[l][i], self_weight[l], row);
        const bool is_last = l + 1 == layers();
        for (double& value : row) value = is_last ? value : std::max(value, 0.0);
        (is_last ? out_ : now[l + 1])[i] = row;
      }
  }

  /// gradient: of each convolution's inputs so far.
  double backward(int c, std::vector<Dense>& gradient) {
    const std::vector<Dense>& now = inputs[std::size_t(epoch)];
    const std::vector<std::size_t> rows = rows_of(c);
    Dense d_out = zeros(vertices(), out_[0].size());
    double loss = 0;
    for (const std::size_t i : rows) loss += cross_entropy(i, d_out[i]);
    for (std::size_t l = layers(); l-- > 0;) {
      Dense d_in = zeros(vertices(), weight[l].size());  // of the vertex's own row
      for (const std::size_t i : rows) {
        add_outer(sums_[l][i], d_out[i], d_weight_[l]);
        if (!self_weight.empty()) add_outer(now[l][i], d_out[i], d_self_[l]);
        for (std::size_t k = 0; k < d_out[i].size(); ++k) d_bias_[l][k] += d_out[i][k];
        if (l == 0) continue;
        std::vector<double> d_sum(weight[l].size(), 0.0);
        add_product_back(d_out[i], weight[l], d_sum);
        if (!self_weight.empty()) add_product_back(d_out[i], self_weight[l], d_in[i]);
        for (std::size_t j = 0; j < vertices(); ++j) {
          if (!is_fresh(i, j) && !historical_gradients) continue;
          std::vector<double>& to = is_fresh(i, j) ? gradient[l][j] : historical[l][j];
          for (std::size_t k = 0; k < to.size(); ++k) to[k] += gradient_scale * adjacency[i][j] * d_sum[k];
        }
      }
      if (l == 0) break;
      for (const std::size_t i : rows)
        for (std::size_t k = 0; k < d_in[i].size(); ++k)
          d_in[i][k] = now[l][i][k] > 0 ? d_in[i][k] + gradient[l][i][k] : 0;
      d_out = d_in;
    }
    return loss;
  }

  double cross_entropy(std::size_t i, std::vector<double>& d_row) const {
    if (labels[i] < 0) return 0;
    double sum = 0, trained = 0;
    for (const int label : labels) trained += label >= 0;
    for (const double z : out_[i]) sum += std::exp(z);
    for (std::size_t k = 0; k < d_row.size(); ++k)
      d_row[k] = (std::exp(out_[i][k]) / sum - (int(k) == labels[i])) / trained;
    return (std::log(sum) - out_[i][std::size_t(labels[i])]) / trained;
  }
  static void add_product(const std::vector<double>& row, const Dense& w, std::vector<double>& out) {
    for (std::size_t i = 0; i < row.size(); ++i)
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += row[i] * w[i][k];
  }
  static void add_product_back(const std::vector<double>& d_row, const Dense& w, std::vector<double>& out) {
    for (std::size_t i = 0; i < out.size(); ++i)
      for (std::size_t k = 0; k < d_row.size(); ++k) out[i] += d_row[k] * w[i][k];
  }
  static void add_outer(const std::vector<double>& row, const std::vector<double>& d_row, Dense& d_w) {
    for (std::size_t i = 0; i < row.size(); ++i)
      for (std::size_t k = 0; k < d_row.size(); ++k) d_w[i][k] += row[i] * d_row[k];
  }
  void descend(Dense& w, const Dense& d_w) const {
    for (std::size_t i = 0; i < w.size(); ++i)
      for (std::size_t k = 0; k < w[i].size(); ++k) w[i][k] -= learning_rate * d_w[i][k];
  }

  std::vector<int> place_;   // by chunk, in the epoch's order
  std::vector<Dense> sums_;  // by convolution: the input of its product
  Dense out_;
  std::vector<Dense> d_weight_, d_self_;
  std::vector<std::vector<double>> d_bias_;
};

}  // namespace atl
