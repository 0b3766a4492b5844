// A pass over chunks of one rank's rows, as a pipeline of layers runs them (GNNPipe: sources are this epoch's
// rows of finished chunks, and an earlier epoch's rows of the other chunks, which take no gradient). Every
// rank has the whole graph, so only the outputs of a range of layers are sent. Simple rather than fast: every
// chunk reads all rows, and arcs select among them.
#pragma once

#include <algorithm>
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

/// A rank's layers over chunks of all rows, forward in an epoch's order and backward in the reverse order.
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

}  // namespace atl
