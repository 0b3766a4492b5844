// The exact halo exchange: in each layer, rows go to the ranks that read them, and gradients of halo rows
// come back. In training a BoundarySet says which rows: all, or a sample. Evaluation reads all halo rows, and
// so does a layer that gathers only once.
#include "strategies/exchange/exchange.h"
#include "strategies/exchange/halo_gather.h"

namespace atl {
namespace {

class Exact final : public Exchange {
 public:
  Exact(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
        bool overlap, std::unique_ptr<BoundarySet> trained)
      : ctx_(ctx),
        part_(part),
        layers_(std::move(layers)),
        overlap_(overlap),
        sets_(ctx, part, layers_, std::move(trained)),
        transfer_(ctx, comm),
        halo_(ctx.device, layers_, sets_.most(layers_, &BoundarySet::arriving),
              [&](const ExchangedLayer& layer) { return sets_.of(layer, true).arriving(); }),
        boundary_(sets_.most(layers_, &BoundarySet::sent), halo_.widest(), ctx.device) {}

  std::vector<Index> source_rows(int layer) const override { return sets_.source_rows(at(layer)); }
  Index bytes() const override { return boundary_.held_bytes() + halo_.bytes() + sets_.bytes(); }

  void begin(std::int64_t epoch, bool training) override {
    if (training) epoch_ = epoch;
  }

  Gather& gather(const GatherRequest& g) override {
    if (at(g.layer).fixed) return there_.start(blocks(g, part_.halo_features), {});
    const MatrixView halo = halo_of(g), packed(boundary_.data(), set_of(g).sent(), g.rows.cols());
    PendingTransfer pending = transfer_.fetch(set_of(g), epoch_, g.purpose, g.rows.dense, packed, halo);
    if (!overlap_) pending.wait();
    return there_.start(blocks(g, halo), std::move(pending));
  }

  Gather& gather_back(const GatherRequest& g, MatrixView d_rows) override {
    if (at(g.layer).fixed) return gather(g);  // nothing travels
    static constexpr ScratchKey kHalo;
    const MatrixView halo = halo_of(g);
    if (d_rows.cols == 0) return back_.start(blocks(g, halo), {}, d_rows);
    return back_.start(blocks(g, halo), ctx_.workspace->matrix(kHalo, halo.rows, d_rows.cols), d_rows);
  }

 private:
  class Back final : public HaloGatherBack {
   public:
    explicit Back(Exact& exact) : exact_(exact) {}

   private:
    void send_gradients() override {
      received_ = MatrixView(exact_.boundary_.data(), boundary_set().sent(), d_rows().cols);
      pending_ = exact_.transfer_.send_gradients(boundary_set(), epoch(), d_halo(), received_);
      if (!exact_.overlap_) pending_.wait();
    }
    void add() override {
      pending_.wait();
      exact_.transfer_.add(boundary_set(), epoch(), received_, d_rows());
    }

    Exact& exact_;
    MatrixView received_;
    PendingTransfer pending_;
  };

  const ExchangedLayer& at(int layer) const { return layers_[std::size_t(layer)]; }
  BoundarySet& set_of(const GatherRequest& g) const { return sets_.of(at(g.layer), g.trains()); }
  HaloBlocks blocks(const GatherRequest& g, const Rows& halo) const {
    return {&sets_.own(at(g.layer)), g.rows, &set_of(g), epoch_, halo};
  }
  /// Where a layer's halo rows lie from forward to backward.
  MatrixView halo_of(const GatherRequest& g) {
    if (g.trains() && at(g.layer).keep) return halo_.kept(g.layer);
    return halo_.shared(set_of(g).arriving(), at(g.layer).cols);
  }

  Context& ctx_;
  const GraphPart& part_;
  std::vector<ExchangedLayer> layers_;
  bool overlap_;
  BoundarySets sets_;
  HaloTransfer transfer_;
  std::int64_t epoch_ = 0;
  HaloBuffers halo_;
  Matrix boundary_;  // (sent, widest): packed rows that leave, or gradients that arrive
  HaloGather there_;
  Back back_{*this};
};

}  // namespace

std::unique_ptr<Exchange> make_exact_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                              std::vector<ExchangedLayer> layers, bool overlap,
                                              std::unique_ptr<BoundarySet> boundary_set) {
  return std::make_unique<Exact>(ctx, comm, part, std::move(layers), overlap, std::move(boundary_set));
}

}  // namespace atl
