// A pass over chunks of one rank's rows, as a pipeline of layers runs them (GNNPipe: sources are this epoch's rows of chunks that are
// done, and last epoch's rows of the others, which take no gradient). Every rank has the whole graph, so that nothing but what leaves
// a range of layers crosses.
#pragma once

#include <memory>
#include <vector>

#include "exchange/exchange.h"
#include "model/listed_sources.h"
#include "strategy/layer_runner.h"
#include "train/some_arcs.h"

namespace atl {

/// A rank's layers over chunks 0, 1, … of all rows, forward in that order and backward in the reverse one.
class ChunkedPass final : public Pass {
 public:
  ChunkedPass(Context& ctx, const GraphPart& whole, const Model& model, int chunks, std::uint64_t seed)
      : ctx_(ctx), whole_(whole), seed_(seed) {
    const Index rows = whole.graph->owned;
    for (int c = 0; c < chunks; ++c) {
      const Index begin = rows * c / chunks, end = rows * (c + 1) / chunks;
      const auto from = [&](Index first, Index last) {
        return std::make_unique<SomeArcs>(whole.own, SomeArcs::Range{begin, end},
                                          SomeArcs::Range{first, last}, false,
                                          [](VertexId, VertexId) { return true; });
      };
      chunks_.push_back({begin, end, from(0, end), from(end, rows), from(0, rows)});
    }
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      layers_.emplace_back();
      for (Matrix* each : {&layers_[l].present, &layers_[l].history, &layers_[l].gradient}) {
        each->resize(rows, l == 0 ? 0 : model.layers[l]->in());
        each->zero();
      }
    }
  }

  /// Of every layer of the model.
  LayerRows rows(int chunk, int layer) const {
    const Chunk& c = chunks_[std::size_t(chunk)];
    const Index count = c.end - c.begin, all = whole_.graph->owned;
    if (layer == 0) return {count, count, count, {all}};
    return {count, count, count, {c.end, all - c.end}};
  }
  Index begin(int chunk) const { return chunks_[std::size_t(chunk)].begin; }
  Index end(int chunk) const { return chunks_[std::size_t(chunk)].end; }

  void begin_epoch(std::int64_t epoch) {
    epoch_ = epoch;
    for (Layer& each : layers_) {
      std::swap(each.present, each.history);
      each.gradient.zero();
    }
  }
  void at_chunk(int chunk) { chunk_ = &chunks_[std::size_t(chunk)]; }

  Context& context() override { return ctx_; }
  Index destinations() const override { return chunk_->end - chunk_->begin; }
  std::span<const VertexId> destination_ids() const override { return chunk_->features->block().dst_ids; }
  bool training() const override { return true; }
  bool repeating() const override { return false; }
  Draws draws(Purpose purpose, int layer) const override {
    return Draws(seed_, purpose, std::uint64_t(epoch_), std::uint64_t(layer));
  }
  void reduce(std::span<double>) override {}
  double reduced_rows() const override { return double(destinations()); }
  void bind(int layer) override { layer_ = layer; }
  void repeat(bool) override {}

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
    d_fresh_.resize(chunk_->end, d_rows.cols);
    return sources_.begin(blocks(layer, d_fresh_), [this, &layer, d_rows] {
      axpby(ctx_, 1, d_fresh_, 1, layer.gradient.view().slice_rows(0, chunk_->end));
      axpby(ctx_, 1, own(layer.gradient), 0,
            d_rows);  // chunks that come later read it, and have gone back before
    });
  }

 private:
  struct Chunk {
    Index begin, end;
    std::unique_ptr<SomeArcs> fresh, late, features;
  };
  struct Layer {
    Matrix present, history, gradient;  // (rows, in) of the layer's input
  };
  MatrixView own(Matrix& all) const {
    return all.view().slice_rows(chunk_->begin, chunk_->end - chunk_->begin);
  }

  std::vector<Source> blocks(Layer& layer, MatrixView d_fresh) {
    const Index all = whole_.graph->owned;
    std::vector<Source> found{{&chunk_->fresh->block(), Rows(layer.present.view().slice_rows(0, chunk_->end)),
                               0, false, false, d_fresh}};
    if (chunk_->end < all)
      found.push_back({&chunk_->late->block(),
                       Rows(layer.history.view().slice_rows(chunk_->end, all - chunk_->end)),
                       1,
                       false,
                       false,
                       {}});
    return found;
  }

  Context& ctx_;
  const GraphPart& whole_;
  std::uint64_t seed_;
  std::vector<Chunk> chunks_;
  std::vector<Layer> layers_;
  const Chunk* chunk_ = nullptr;
  int layer_ = 0;
  std::int64_t epoch_ = 0;
  ListedSources sources_;
  Matrix d_fresh_;
};

}  // namespace atl
