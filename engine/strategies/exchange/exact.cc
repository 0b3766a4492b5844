// The exact halo exchange: in every layer of every epoch, rows go to the ranks that read them, and gradients
// of halo rows come back to their owners. In training a BoundarySet says which rows: all, or a sample.
// Evaluation, and what is gathered once, reads all rows unrounded.
#include <deque>

#include "strategies/exchange/exchange.h"
#include "strategies/exchange/halo_gather.h"

namespace atl {
namespace {

class Exact final : public Exchange {
 public:
  Exact(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
        bool overlap, std::unique_ptr<BoundarySet> boundary_set)
      : ctx_(ctx),
        part_(part),
        graph_(*part.graph),
        layers_(std::move(layers)),
        overlap_(overlap),
        whole_(ctx, graph_, part.outer),
        trained_(std::move(boundary_set)),
        near_(near_boundary_sets(ctx, part, layers_, trained_ ? trained_->wire() : Precision::kFloat32)),
        transfer_(ctx, comm),
        halo_(ctx.device, layers_, most(&BoundarySet::arriving),
              [&](const ExchangedLayer& layer) { return trained(layer).arriving(); }),
        boundary_(most(&BoundarySet::sent), halo_.widest(), ctx.device) {}

  std::vector<Index> source_rows(int layer) const override {
    if (part_.near.empty()) return {graph_.owned, graph_.halo};
    const NearRows& near = part_.near[std::size_t(layers_[std::size_t(layer)].hops_left)];
    return {near.sources, near.halo};
  }
  Index bytes() const override {
    Index sum = boundary_.held_bytes() + halo_.bytes() + (trained_ ? trained_->bytes() : 0);
    for (const WholeBoundarySet& each : near_) sum += each.bytes();
    return sum;
  }

  void begin(std::int64_t epoch, bool training) override {
    if (training) epoch_ = epoch;
  }

  Gather& gather(const GatherRequest& g) override {
    BoundarySet& boundary_set = boundary_set_of(g);
    if (layer(g).fixed)
      return there_.start({&own_of(g), g.rows, &boundary_set, epoch_, part_.halo_features}, {});
    const MatrixView halo = halo_of(g), packed(boundary_.data(), boundary_set.sent(), g.rows.cols());
    PendingTransfer pending = transfer_.fetch(boundary_set, epoch_, g.purpose, g.rows.dense, packed, halo);
    if (!overlap_) pending.wait();
    return there_.start({&own_of(g), g.rows, &boundary_set, epoch_, Rows(halo)}, std::move(pending));
  }

  Gather& gather_back(const GatherRequest& g, MatrixView d_rows) override {
    if (layer(g).fixed) return gather(g);  // nothing travels
    static constexpr ScratchKey kHalo;
    const MatrixView halo = halo_of(g);
    MatrixView d_halo;
    if (d_rows.cols > 0) d_halo = ctx_.workspace->matrix(kHalo, halo.rows, d_rows.cols);
    return back_.start({&own_of(g), g.rows, &boundary_set_of(g), epoch_, Rows(halo)}, d_halo, d_rows);
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

  const ExchangedLayer& layer(const GatherRequest& g) const { return layers_[std::size_t(g.layer)]; }
  static bool trains(const GatherRequest& g) {
    return g.purpose == Traffic::kHalo || g.purpose == Traffic::kRecompute;
  }
  /// The boundary rows of training's passes.
  BoundarySet& trained(const ExchangedLayer& layer) {
    if (!near_.empty()) return near_[std::size_t(layer.hops_left)];
    return trained_ ? *trained_ : whole_;
  }
  /// Features don't travel; they are present for all halo rows. Where some rows are copies, only training
  /// runs.
  BoundarySet& boundary_set_of(const GatherRequest& g) {
    if (!near_.empty()) return near_[std::size_t(layer(g).hops_left)];
    return trains(g) && !layer(g).fixed ? trained(layer(g)) : whole_;
  }
  const Block& own_of(const GatherRequest& g) const {
    return near_.empty() ? part_.own : part_.near[std::size_t(layer(g).hops_left)].own;
  }

  /// What is gathered once travels unrounded.
  static std::deque<WholeBoundarySet> near_boundary_sets(Context& ctx, const GraphPart& part,
                                                         std::span<const ExchangedLayer> layers,
                                                         Precision wire) {
    std::deque<WholeBoundarySet> all;
    for (const NearRows& near : part.near) {
      const auto is_once = [&](const ExchangedLayer& each) {
        return each.gathers && each.once && each.hops_left == int(all.size());
      };
      const Precision of_layer = std::ranges::any_of(layers, is_once) ? Precision::kFloat32 : wire;
      all.emplace_back(ctx, near.peers, near.halo, near.outer, of_layer);
    }
    return all;
  }
  /// The most over the layers whose rows travel.
  Index most(Index (BoundarySet::*rows)() const) {
    if (near_.empty()) return (whole_.*rows)();
    Index sum = 0;
    for (const ExchangedLayer& each : layers_)
      if (each.gathers && !each.fixed) sum = std::max(sum, (trained(each).*rows)());
    return sum;
  }

  /// Where a layer's halo rows lie from forward to backward.
  MatrixView halo_of(const GatherRequest& g) {
    if (trains(g) && layer(g).keep) return halo_.kept(g.layer);
    return halo_.shared(boundary_set_of(g).arriving(), layer(g).cols);
  }

  Context& ctx_;
  const GraphPart& part_;
  const LocalGraph& graph_;
  std::vector<ExchangedLayer> layers_;
  bool overlap_;
  WholeBoundarySet whole_;
  std::unique_ptr<BoundarySet> trained_;  // for training's passes; null: all rows, unrounded
  std::deque<WholeBoundarySet> near_;     // by number of gathering layers behind, where some rows are copies
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
