// The exact halo exchange: every layer, every epoch, the rows that cross go to the ranks that read them and gradients of
// halo rows come back to their owners. In training a Crossing says which rows: all, or a sample of them; evaluation, and
// what is gathered once, reads all, as they are. Slot 0 = owned rows, slot 1 = halo rows.
#include "exchange/exchange.h"
#include "exchange/halo_rooms.h"
#include "exchange/halo_transfer.h"

namespace atl {
namespace {

class Exact final : public Exchange {
 public:
  Exact(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
        bool overlap, std::unique_ptr<Crossing> crossing)
      : ctx_(ctx),
        part_(part),
        graph_(*part.graph),
        layers_(std::move(layers)),
        overlap_(overlap),
        whole_(graph_, part.outer),
        trained_(std::move(crossing)),
        transfer_(ctx, comm),
        halo_(ctx.device, layers_, graph_.halo, trained().arriving()),
        boundary_(whole_.sent(), halo_.widest(), ctx.device) {}

  std::vector<Index> source_rows() const override { return {graph_.owned, graph_.halo}; }
  Index bytes() const override {
    return boundary_.held_bytes() + halo_.bytes() + (trained_ ? trained_->bytes() : 0);
  }

  void begin(std::int64_t epoch, bool training) override {
    if (training) epoch_ = epoch;
  }

  void forward(const Gather& g, VisitSource visit) override {
    if (layer(g).fixed) {
      visit({&part_.own, g.rows, 0, true});
      if (graph_.halo > 0) visit({&part_.outer, part_.halo_features, 1, false});
      return;
    }
    Crossing& crossing = crossing_of(g);
    MatrixView halo = halo_of(g);
    MatrixView packed(boundary_.data(), crossing.sent(), g.rows.cols());
    Arrival arrived = transfer_.fetch(crossing, epoch_, g.purpose, g.rows.dense, packed, halo);
    if (!overlap_) arrived.wait();
    visit({&part_.own, g.rows, 0, true});  // while halo rows travel: they touch none of the same memory
    const Block& outer = crossing.block(epoch_);
    arrived.wait();
    if (halo.rows > 0) visit({&outer, Rows(halo), 1, false});
  }

  void backward(const Gather& g, VisitSourceBackward visit, MatrixView d_rows) override {
    if (layer(g).fixed) {
      visit({&part_.own, g.rows, 0, true}, {});
      if (graph_.halo > 0) visit({&part_.outer, part_.halo_features, 1, false}, {});
      return;
    }
    // Halo rows first, so that their gradients travel while own rows are worked on.
    Crossing& crossing = crossing_of(g);
    const MatrixView halo = halo_of(g);
    MatrixView d_halo;
    if (d_rows.cols > 0) d_halo = ctx_.workspace->matrix("exact.d_halo", halo.rows, d_rows.cols);
    if (halo.rows > 0) visit({&crossing.block(epoch_), Rows(halo), 1, false}, d_halo);
    if (d_rows.cols == 0) return visit({&part_.own, g.rows, 0, true}, {});
    MatrixView received(boundary_.data(), crossing.sent(), d_rows.cols);
    Arrival arrived = transfer_.ship(crossing, epoch_, d_halo, received);
    if (!overlap_) arrived.wait();
    visit({&part_.own, g.rows, 0, true}, d_rows);
    arrived.wait();
    transfer_.add(crossing, epoch_, received, d_rows);
  }

 private:
  const ExchangedLayer& layer(const Gather& g) const { return layers_[std::size_t(g.layer)]; }
  static bool trains(const Gather& g) {
    return g.purpose == Traffic::kHalo || g.purpose == Traffic::kRecompute;
  }
  Crossing& trained() { return trained_ ? *trained_ : whole_; }
  Crossing& crossing_of(const Gather& g) { return trains(g) ? trained() : whole_; }

  /// Where layer g's halo rows lie from forward to backward.
  MatrixView halo_of(const Gather& g) {
    if (trains(g) && layer(g).keep) return halo_.kept(g.layer);
    return halo_.shared(crossing_of(g).arriving(), layer(g).cols);
  }

  Context& ctx_;
  const GraphPart& part_;
  const LocalGraph& graph_;
  std::vector<ExchangedLayer> layers_;
  bool overlap_;
  WholeCrossing whole_;
  std::unique_ptr<Crossing> trained_;  // of training's passes; null: all rows, as they are
  HaloTransfer transfer_;
  std::int64_t epoch_ = 0;
  HaloRooms halo_;
  Matrix boundary_;  // (sent, widest): packed rows going out, or gradients coming back
};

}  // namespace

std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap,
                                              std::unique_ptr<Crossing> crossing) {
  return std::make_unique<Exact>(ctx, comm, part, std::move(layers), overlap, std::move(crossing));
}

}  // namespace atl
