// The exact halo exchange: every layer, every epoch, the rows that cross go to the ranks that read them and gradients of
// halo rows come back to their owners. In training a Crossing says which rows: all, or a sample of them; evaluation, and
// what is gathered once, reads all, as they are.
#include "exchange/exchange.h"
#include "exchange/halo_gather.h"
#include "exchange/halo_rooms.h"

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
        whole_(ctx, graph_, part.outer),
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

  Gather& gather(const Gathered& g) override {
    if (layer(g).fixed) return there_.start({&part_.own, g.rows, &whole_, epoch_, part_.halo_features}, {});
    Crossing& crossing = crossing_of(g);
    const MatrixView halo = halo_of(g), packed(boundary_.data(), crossing.sent(), g.rows.cols());
    Arrival arrived = transfer_.fetch(crossing, epoch_, g.purpose, g.rows.dense, packed, halo);
    if (!overlap_) arrived.wait();
    return there_.start({&part_.own, g.rows, &crossing, epoch_, Rows(halo)}, std::move(arrived));
  }

  Gather& gather_back(const Gathered& g, MatrixView d_rows) override {
    if (layer(g).fixed) return gather(g);  // nothing travels
    const MatrixView halo = halo_of(g);
    MatrixView d_halo;
    if (d_rows.cols > 0) d_halo = ctx_.workspace->matrix("exact.d_halo", halo.rows, d_rows.cols);
    return back_.start({&part_.own, g.rows, &crossing_of(g), epoch_, Rows(halo)}, d_halo, d_rows);
  }

 private:
  class Back final : public HaloGatherBack {
   public:
    explicit Back(Exact& exact) : exact_(exact) {}

   private:
    void ship() override {
      received_ = MatrixView(exact_.boundary_.data(), crossing().sent(), d_rows().cols);
      arrived_ = exact_.transfer_.ship(crossing(), epoch(), d_halo(), received_);
      if (!exact_.overlap_) arrived_.wait();
    }
    void add() override {
      arrived_.wait();
      exact_.transfer_.add(crossing(), epoch(), received_, d_rows());
    }

    Exact& exact_;
    MatrixView received_;
    Arrival arrived_;
  };

  const ExchangedLayer& layer(const Gathered& g) const { return layers_[std::size_t(g.layer)]; }
  static bool trains(const Gathered& g) {
    return g.purpose == Traffic::kHalo || g.purpose == Traffic::kRecompute;
  }
  Crossing& trained() { return trained_ ? *trained_ : whole_; }
  Crossing& crossing_of(const Gathered& g) { return trains(g) ? trained() : whole_; }

  /// Where layer g's halo rows lie from forward to backward.
  MatrixView halo_of(const Gathered& g) {
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
  HaloGather there_;
  Back back_{*this};
};

}  // namespace

std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap,
                                              std::unique_ptr<Crossing> crossing) {
  return std::make_unique<Exact>(ctx, comm, part, std::move(layers), overlap, std::move(crossing));
}

}  // namespace atl
