// CAGNET's exchange (Tripathy et al. 2020, 1D and 1.5D): blocks of rows are broadcast whole, layer by layer, epoch by epoch, and
// their gradients go back whole. The result is that of one rank; what it costs is that also rows travel that nobody reads.
#include "exchange/cagnet_rounds.h"
#include "exchange/cagnet_softmaxes.h"
#include "exchange/cagnet_sums.h"
#include "exchange/halo_rooms.h"

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
        row_(ctx, comm, part, grid_),
        sums_(ctx, row_, wire),
        softmaxes_(ctx, row_),
        halo_(ctx.device, layers_, rounds_.halo_rows(), rounds_.halo_rows()) {}

  std::vector<Index> source_rows() const override { return rounds_.source_rows(); }
  Index bytes() const override { return rounds_.bytes() + halo_.bytes(); }

  void forward(const Gather& g, VisitSource visit) override {
    ATOLL_CHECK(alone(), "only sums and softmaxes can be merged over a row of the grid");
    go_round(g, visit);
  }
  void backward(const Gather& g, VisitSourceBackward visit, MatrixView d_rows) override {
    ATOLL_CHECK(alone(), "only sums and softmaxes can be merged over a row of the grid");
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

  void forward_softmax(const Gather& g, const SoftmaxGather& softmax, VisitSoftmax visit) override {
    if (alone()) return Exchange::forward_softmax(g, softmax, visit);
    const CagnetSoftmaxes::OfRow row = softmaxes_.begin(g.purpose, softmax);
    go_round(g, [&](const Source& s) { visit(s, row.scores, row.softmaxes); });
    softmaxes_.merge(g.purpose, row, softmax);
  }
  void backward_softmax(const Gather& g, const SoftmaxGradient& softmax, VisitSoftmaxBackward visit,
                        MatrixView d_rows) override {
    if (alone()) return Exchange::backward_softmax(g, softmax, visit, d_rows);
    const SoftmaxGradient row = softmaxes_.spread(softmax);
    go_back(
        g, [&](const Source& s, MatrixView d_block) { visit(s, row, d_block); }, d_rows);
    softmaxes_.add_scores(row, softmax);
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

  /// Where layer g's halo rows lie from forward to backward.
  MatrixView halo_of(const Gather& g) {
    return layer(g).keep ? halo_.kept(g.layer) : halo_.shared(rounds_.halo_rows(), layer(g).cols);
  }

  Context& ctx_;
  std::vector<ExchangedLayer> layers_;
  CagnetGrid grid_;
  CagnetRounds rounds_;
  CagnetRow row_;  // of 1.5D, as what it merges
  CagnetSums sums_;
  CagnetSoftmaxes softmaxes_;
  HaloRooms halo_;
};

}  // namespace

std::unique_ptr<Exchange> make_cagnet_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               std::vector<ExchangedLayer> layers, int replication,
                                               Precision wire) {
  return std::make_unique<Cagnet>(ctx, comm, part, std::move(layers), replication, wire);
}

}  // namespace atl
