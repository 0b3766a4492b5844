// The exact halo exchange: every layer, every epoch, boundary rows go to the ranks that read them and gradients of
// halo rows come back to their owners. Slot 0 = owned rows, slot 1 = halo rows.
#include <algorithm>

#include "exchange/exchange.h"
#include "exchange/halo_transfer.h"

namespace atl {
namespace {

class Exact final : public Exchange {
 public:
  Exact(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
        bool overlap)
      : ctx_(ctx),
        part_(part),
        graph_(*part.graph),
        layers_(std::move(layers)),
        overlap_(overlap),
        transfer_(ctx, comm, graph_) {
    Index widest = 0;
    for (const ExchangedLayer& l : layers_) {
      if (!l.gathers || l.fixed) continue;
      widest = std::max(widest, l.cols);
    }
    boundary_.resize(transfer_.sent_rows(), widest, ctx.device);
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
    MatrixView packed(boundary_.data(), transfer_.sent_rows(), g.rows.cols());
    Event arrived = transfer_.fetch(g.purpose, g.rows.dense, packed, halo);
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
    MatrixView received(boundary_.data(), transfer_.sent_rows(), d_rows.cols);
    Event arrived = transfer_.ship(d_halo, received);
    if (!overlap_) arrived.wait();
    visit({&part_.own, g.rows, 0, true}, d_rows);
    arrived.wait();
    transfer_.add(received, d_rows);
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

  Context& ctx_;
  const GraphPart& part_;
  const LocalGraph& graph_;
  std::vector<ExchangedLayer> layers_;
  bool overlap_;
  HaloTransfer transfer_;
  Matrix boundary_;                // (sent_rows, widest): packed rows going out, or gradients coming back
  Matrix shared_halo_;             // (halo, widest)
  std::vector<Matrix> kept_halo_;  // by layer: (halo, cols) where backward looks at them again
};

}  // namespace

std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap) {
  return std::make_unique<Exact>(ctx, comm, part, std::move(layers), overlap);
}

}  // namespace atl
