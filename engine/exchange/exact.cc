// The exact halo exchange: every layer, every epoch, boundary rows go to the ranks that read them and gradients of
// halo rows come back to their owners. Slot 0 = owned rows, slot 1 = halo rows.
#include <algorithm>

#include "exchange/exchange.h"

namespace atl {
namespace {

class Exact final : public Exchange {
 public:
  Exact(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
        bool overlap)
      : ctx_(ctx),
        comm_(comm),
        part_(part),
        graph_(*part.graph),
        layers_(std::move(layers)),
        overlap_(overlap) {
    for (const PeerRows& peer : graph_.peers) sent_rows_ += Index(peer.send.size());
    Index widest = 0;
    for (const ExchangedLayer& l : layers_) {
      if (!l.gathers || l.fixed) continue;
      widest = std::max(widest, l.cols);
    }
    boundary_.resize(sent_rows_, widest, ctx.device);
    shared_halo_.resize(graph_.halo, widest, ctx.device);
    kept_halo_.resize(layers_.size());
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (layers_[l].keep && !layers_[l].fixed)
        kept_halo_[l].resize(graph_.halo, layers_[l].cols, ctx.device);
    }
  }

  std::vector<Index> source_rows() const override { return {graph_.owned, graph_.halo}; }
  Index bytes() const override {
    Index total = boundary_.held_bytes() + shared_halo_.held_bytes();
    for (const Matrix& m : kept_halo_) total += m.held_bytes();
    return total;
  }

  void forward(const Gather& g, VisitSource visit) override {
    if (layer(g).fixed) {
      visit({&part_.own, g.rows, 0, true});
      visit_halo(visit, part_.halo_features);
      return;
    }
    MatrixView halo = halo_of(g);
    Event arrived = fetch(g, halo);
    if (!overlap_) arrived.wait();
    visit({&part_.own, g.rows, 0, true});  // while halo rows travel: they touch none of the same memory
    arrived.wait();
    visit_halo(visit, halo);
  }

  void backward(const Gather& g, VisitSourceBackward visit, MatrixView d_rows) override {
    if (layer(g).fixed || d_rows.cols == 0) {
      visit({&part_.own, g.rows, 0, true}, {});
      if (graph_.halo > 0)
        visit({&part_.outer, layer(g).fixed ? part_.halo_features : Rows(halo_of(g)), 1, false}, {});
      return;
    }
    // Halo rows first, so that their gradients travel while own rows are worked on.
    MatrixView d_halo = ctx_.workspace->matrix("exact.d_halo", graph_.halo, d_rows.cols);
    if (graph_.halo > 0) visit({&part_.outer, halo_of(g), 1, false}, d_halo);
    MatrixView received(boundary_.data(), sent_rows_, d_rows.cols);
    Event arrived = ship(d_halo, received);
    if (!overlap_) arrived.wait();
    visit({&part_.own, g.rows, 0, true}, d_rows);
    arrived.wait();
    Index row = 0;
    for (const PeerRows& peer : graph_.peers) {
      const auto count = Index(peer.send.size());
      scatter_add_rows(ctx_, received.slice_rows(row, count), peer.send.data(), d_rows);
      row += count;
    }
  }

 private:
  const ExchangedLayer& layer(const Gather& g) const { return layers_[std::size_t(g.layer)]; }

  void visit_halo(VisitSource visit, const Rows& halo) const {
    if (graph_.halo > 0) visit({&part_.outer, halo, 1, false});
  }

  /// Where layer g's halo rows lie from forward to backward; shared by layers that don't look at them again.
  MatrixView halo_of(const Gather& g) {
    Matrix& kept = kept_halo_[std::size_t(g.layer)];
    return layer(g).keep ? kept.view() : MatrixView(shared_halo_.data(), graph_.halo, layer(g).cols);
  }

  /// Packs boundary rows and starts the exchange of layer inputs.
  Event fetch(const Gather& g, MatrixView halo) {
    MatrixView packed(boundary_.data(), sent_rows_, g.rows.cols());
    sends_.clear();
    receives_.clear();
    Index row = 0;
    for (const PeerRows& peer : graph_.peers) {
      const auto count = Index(peer.send.size());
      MatrixView mine = packed.slice_rows(row, count);
      gather_rows(ctx_, g.rows.dense, peer.send.data(), mine);
      row += count;
      sends_.push_back({peer.peer, mine});
      receives_.push_back({peer.peer, halo.slice_rows(peer.receive_begin, peer.receive_count)});
    }
    return comm_.exchange(Lane::kBulk, g.purpose, sends_, receives_);
  }

  /// Starts the exchange of halo gradients back to the rows' owners.
  Event ship(MatrixView d_halo, MatrixView received) {
    sends_.clear();
    receives_.clear();
    Index row = 0;
    for (const PeerRows& peer : graph_.peers) {
      const auto count = Index(peer.send.size());
      sends_.push_back({peer.peer, d_halo.slice_rows(peer.receive_begin, peer.receive_count)});
      receives_.push_back({peer.peer, received.slice_rows(row, count)});
      row += count;
    }
    return comm_.exchange(Lane::kBulk, Traffic::kHaloGradient, sends_, receives_);
  }

  Context& ctx_;
  Communicator& comm_;
  const GraphPart& part_;
  const LocalGraph& graph_;
  std::vector<ExchangedLayer> layers_;
  bool overlap_;
  Index sent_rows_ = 0;
  Matrix boundary_;            // (sent_rows, widest): packed rows going out, or gradients coming back
  Matrix shared_halo_;         // (halo, widest)
  std::vector<RowsTo> sends_;  // of the exchange being started
  std::vector<RowsFrom> receives_;
  std::vector<Matrix> kept_halo_;  // by layer: (halo, cols) where backward looks at them again
};

}  // namespace

std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap) {
  return std::make_unique<Exact>(ctx, comm, part, std::move(layers), overlap);
}

}  // namespace atl
