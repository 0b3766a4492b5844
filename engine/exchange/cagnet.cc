// CAGNET's exchange (Tripathy et al. 2020, 1D and 1.5D): blocks of rows are broadcast whole, layer by layer, epoch by epoch, and
// their gradients go back whole. The result is that of one rank; what it costs is that also rows travel that nobody reads.
#include "exchange/cagnet_rounds.h"
#include "exchange/cagnet_sums.h"

namespace atl {
namespace {

class Cagnet final : public Exchange {
 public:
  Cagnet(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
         int replication, Precision wire)
      : ctx_(ctx),
        layers_(std::move(layers)),
        grid_{comm.size(), replication},
        rounds_(ctx, comm, part, layers_, grid_, wire),
        sums_(ctx, comm, part, grid_, wire),
        shared_halo_(rounds_.halo_rows(), rounds_.widest(), ctx.device),
        kept_halo_(layers_.size()) {
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (layers_[l].keep && !layers_[l].fixed)
        kept_halo_[l].resize(rounds_.halo_rows(), layers_[l].cols, ctx.device);
    }
  }

  std::vector<Index> source_rows() const override { return rounds_.source_rows(); }
  Index bytes() const override {
    Index total = rounds_.bytes() + shared_halo_.held_bytes();
    for (const Matrix& each : kept_halo_) total += each.held_bytes();
    return total;
  }

  void forward(const Gather& g, VisitSource visit) override {
    ATOLL_CHECK(alone(), "only sums can be merged over a row of the grid");
    go_round(g, visit);
  }
  void backward(const Gather& g, VisitSourceBackward visit, MatrixView d_rows) override {
    ATOLL_CHECK(alone(), "only sums can be merged over a row of the grid");
    go_back(g, visit, d_rows);
  }

  void forward_sum(const Gather& g, const Sum& sum, VisitSum visit) override {
    if (alone()) return Exchange::forward_sum(g, sum, visit);
    const MatrixView partial = sums_.partial(sum.target.cols);
    bool any = false;
    go_round(g, [&](const Source& s) {
      any = true;
      visit(s, partial, !s.first);
    });
    if (!any) fill(ctx_, 0, partial);
    sums_.merge(g.purpose, partial, sum);
  }
  void backward_sum(const Gather& g, const SumGradient& sum, VisitSumBackward visit,
                    MatrixView d_rows) override {
    if (alone()) return Exchange::backward_sum(g, sum, visit, d_rows);
    const ConstMatrixView d_partial = sums_.spread(sum);
    go_back(
        g, [&](const Source& s, MatrixView d_block) { visit(s, d_partial, d_block); }, d_rows);
  }

 private:
  const ExchangedLayer& layer(const Gather& g) const { return layers_[std::size_t(g.layer)]; }
  bool alone() const { return grid_.replication == 1; }

  void go_round(const Gather& g, VisitSource visit) {
    if (layer(g).fixed) return rounds_.visit_features(g.rows, visit);
    rounds_.forward(g, rounds_.all(), halo_of(g), visit);
  }
  void go_back(const Gather& g, VisitSourceBackward visit, MatrixView d_rows) {
    if (!layer(g).fixed) return rounds_.backward(g, rounds_.all(), halo_of(g), visit, d_rows);
    rounds_.visit_features(g.rows, [&](const Source& s) { visit(s, {}); });
  }

  /// Where layer g's halo rows lie from forward to backward; shared by layers that don't look at them again.
  MatrixView halo_of(const Gather& g) {
    Matrix& kept = kept_halo_[std::size_t(g.layer)];
    return layer(g).keep ? kept.view() : MatrixView(shared_halo_.data(), rounds_.halo_rows(), layer(g).cols);
  }

  Context& ctx_;
  std::vector<ExchangedLayer> layers_;
  CagnetGrid grid_;
  CagnetRounds rounds_;
  CagnetSums sums_;                // of 1.5D
  Matrix shared_halo_;             // (halo, widest)
  std::vector<Matrix> kept_halo_;  // by layer: (halo, cols) where backward looks at them again
};

}  // namespace

std::unique_ptr<Exchange> make_cagnet_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               std::vector<ExchangedLayer> layers, int replication,
                                               Precision wire) {
  return std::make_unique<Cagnet>(ctx, comm, part, std::move(layers), replication, wire);
}

}  // namespace atl
