// CAGNET's exchange (Tripathy et al. 2020, 1D and 1.5D): blocks of rows are broadcast whole, layer by layer, epoch by epoch, and
// their gradients go back whole. The result is that of one rank; what it costs is that also rows travel that nobody reads.
#include "strategies/exchange/whole_blocks.h"

#include "strategies/exchange/block_merge.h"
#include "strategies/exchange/block_rounds.h"
#include "strategies/exchange/halo_rooms.h"

namespace atl {
namespace {

class Cagnet final : public Exchange {
 public:
  Cagnet(Context& ctx, Communicator& comm, const GraphPart& part, std::vector<ExchangedLayer> layers,
         int replication, Precision wire)
      : layers_(std::move(layers)),
        grid_{comm.size(), replication},
        rounds_(ctx, comm, part, layers_, grid_, wire),
        row_(ctx, comm, part, grid_),
        merge_(ctx, row_, wire),
        halo_(ctx.device, layers_, rounds_.halo_rows(),
              [&](const ExchangedLayer&) { return rounds_.halo_rows(); }) {
    if (grid_.replication > 1) rounds_.merge_by(&merge_);
  }

  std::vector<Index> source_rows(int) const override { return rounds_.source_rows(); }
  Index bytes() const override { return rounds_.bytes() + halo_.bytes(); }

  Gather& gather(const Gathered& what) override {
    merge_.begin(what.purpose);
    if (layer(what).fixed) return rounds_.gather_features(what.rows);
    return rounds_.gather(what, rounds_.all(), halo_of(what));
  }
  Gather& gather_back(const Gathered& what, MatrixView d_rows) override {
    merge_.begin(Traffic::kHaloGradient);
    if (layer(what).fixed) return rounds_.gather_features(what.rows);
    return rounds_.gather_back(what, rounds_.all(), halo_of(what), d_rows);
  }

 private:
  const ExchangedLayer& layer(const Gathered& g) const { return layers_[std::size_t(g.layer)]; }

  /// Where a layer's halo rows lie from forward to backward.
  MatrixView halo_of(const Gathered& g) {
    return layer(g).keep ? halo_.kept(g.layer) : halo_.shared(rounds_.halo_rows(), layer(g).cols);
  }

  std::vector<ExchangedLayer> layers_;
  CagnetGrid grid_;
  CagnetRounds rounds_;
  CagnetRow row_;  // of 1.5D, as what it merges
  CagnetMerge merge_;
  HaloRooms halo_;
};

}  // namespace

std::unique_ptr<Exchange> make_cagnet_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               std::vector<ExchangedLayer> layers, int replication,
                                               Precision wire) {
  return std::make_unique<Cagnet>(ctx, comm, part, std::move(layers), replication, wire);
}

}  // namespace atl
