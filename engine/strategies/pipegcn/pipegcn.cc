// PipeGCN's exchange (Wan et al. 2022, algorithm 1). Halo rows and their gradients are those of the epoch
// before. A layer's transfer of epoch t therefore hides behind all that is computed until the same layer of
// epoch t + 1. Slot 0 = owned rows, slot 1 = halo rows.
//
// In the first epoch nothing has arrived: halo rows are zero, and no gradients come from other ranks. A
// resumed run on another number of ranks lacks the rows that were under way. It waits in its first epoch for
// that epoch's own rows, which fills its buffers with exact values. stale_rows.h smooths.
//
// A BoundarySet says which rows travel. Where it draws a sample each epoch, rows that left in epoch t are
// read by the block of t's sample. Their gradients are under way in epoch t + 1, and in epoch t + 2 they are
// added to the rows that t's sample sent.
//
// Evaluation, and what is gathered once, is exact, by a separate exchange with its own buffers.
#include "job/strategies/boundary_rows.h"
#include "strategies/exchange/figure_request.h"
#include "strategies/exchange/halo_gather.h"
#include "strategies/pipegcn/figures.h"
#include "strategies/pipegcn/info.h"
#include "strategies/pipegcn/stale_rows.h"
#include "strategies/schedule/rows.h"

namespace atl {
namespace {

/// What a manifest says of halo rows and gradients of the epoch before (sections 3.3 and 3.4).
struct PipeGcnOptions {
  int staleness = 1;  // epochs; 0: waits for the rows, as a check of the rest
  bool smooth_rows = false, smooth_gradients = false;  // PipeGCN-F, -G, -GF
  double decay = 0.95;                                 // γ of the moving averages
  bool bias_correction = true;                         // not in the authors' code
  std::int64_t measure_every = 0;  // epochs between two that report EpochStaleness; 0: none does
};

/// With a sample of boundary rows nothing may be smoothed or measured, because each epoch has other rows.
class PipeGcn final : public Exchange {
 public:
  PipeGcn(Context& ctx, Communicator& comm, const GraphPart& part, const std::vector<ExchangedLayer>& layers,
          const PipeGcnOptions& options, std::unique_ptr<BoundarySet> boundary_set)
      : part_(part), options_(options), boundary_set_(std::move(boundary_set)), transfer_(ctx, comm) {
    if (!boundary_set_) boundary_set_ = std::make_unique<WholeBoundarySet>(ctx, *part.graph, part.outer);
    std::vector<ExchangedLayer> inferred = layers;
    for (ExchangedLayer& each : inferred) each.keep = false;
    exact_ = make_exact_exchange(ctx, comm, part, std::move(inferred), true);
    const Index sent = boundary_set_->sent(), halo = boundary_set_->arriving();
    for (const ExchangedLayer& each : layers) {
      const Index cols = each.travels() ? each.cols : 0;
      fixed_.push_back(each.fixed);
      rows_.emplace_back(ctx, sent, halo, cols, smoothing(options.smooth_rows && cols > 0));
      gradients_.emplace_back(ctx, halo, sent, cols, smoothing(options.smooth_gradients && cols > 0));
    }
    epochs_.zero();
  }

  /// Waits for transfers, because they write to buffers that are freed here. Errors are ignored: an earlier
  /// call that waited for the lost rank has reported it.
  ~PipeGcn() override {
    try {
      for (std::size_t l = 0; l < rows_.size(); ++l) {
        rows_[l].wait();
        gradients_[l].wait();
      }
    } catch (const Error&) {
    }
  }

  std::vector<Index> source_rows(int layer) const override { return exact_->source_rows(layer); }
  Index bytes() const override {
    Index total = exact_->bytes() + boundary_set_->bytes();
    for (const StaleRows& each : rows_) total += each.bytes();
    for (const StaleRows& each : gradients_) total += each.bytes();
    return total;
  }

  void begin(std::int64_t epoch, bool training) override {
    if (!training) return;
    if (options_.staleness > 0 && epochs_.at(0, 0) == 0 && epoch > 1) epochs_.at(0, 1) = Real(epoch);
    epochs_.at(0, 0) += 1;
    epoch_ = epoch;
    const bool is_measured = options_.measure_every > 0 && (epoch - 1) % options_.measure_every == 0;
    measures_ = is_measured && passes_ > 0 && !is_refilled(epoch - 1);
    ++passes_;
  }

  Gather& gather(const GatherRequest& g) override {
    const bool repeated = g.purpose == Traffic::kRecompute;  // uses the rows that forward used
    if (fixed_[std::size_t(g.layer)] || !(repeated || g.purpose == Traffic::kHalo)) return exact_->gather(g);
    StaleRows& stale = rows_[std::size_t(g.layer)];
    if (!repeated)
      exchange(stale, [&] {
        return transfer_.fetch(*boundary_set_, epoch_, g.purpose, g.sent.cols > 0 ? g.sent : g.rows.dense,
                               stale.leaving(), stale.arriving());
      });
    return there_.start({&part_.own, g.rows, boundary_set_.get(), used_epoch(), Rows(in_use(stale))}, {});
  }

  Gather& gather_back(const GatherRequest& g, MatrixView d_rows) override {
    if (fixed_[std::size_t(g.layer)]) return exact_->gather_back(g, d_rows);
    return back_.begin(g, d_rows);
  }

  void report(FigureRequest& request) override {
    request.offer<EpochStaleness>([&] { return staleness(); });
  }

  std::vector<NamedMatrix> state() override {
    std::vector<NamedMatrix> all{{"pipegcn.epochs", epochs_}};
    for (std::size_t l = 0; l < rows_.size(); ++l) {
      rows_[l].hold(all, fmt::format("pipegcn.rows.{}", l), options_.staleness == 0);
      gradients_[l].hold(all, fmt::format("pipegcn.gradients.{}", l), options_.staleness == 0);
    }
    if (all.size() == 1) all.clear();  // nothing is stale, so no epochs need counting
    return all;
  }

 private:
  EpochStaleness staleness() const {
    EpochStaleness all;
    for (std::size_t l = 0; measures_ && l < rows_.size(); ++l) {
      if (!rows_[l].travels()) continue;
      const StaleRows::Error rows = rows_[l].error(), gradients = gradients_[l].error();
      all.push_back({int(l), rows.differences, rows.size, gradients.differences, gradients.size});
    }
    return all;
  }

  class Back final : public HaloGatherBack {
   public:
    explicit Back(PipeGcn& pipe) : pipe_(pipe) {}
    Gather& begin(const GatherRequest& g, MatrixView d_rows) {
      stale_ = &pipe_.gradients_[std::size_t(g.layer)];
      stale_->wait();  // until the last gradients have left
      const Rows halo(pipe_.in_use(pipe_.rows_[std::size_t(g.layer)]));
      const MatrixView d_halo = d_rows.cols > 0 ? stale_->leaving() : MatrixView();
      return start({&pipe_.part_.own, g.rows, pipe_.boundary_set_.get(), pipe_.used_epoch(), halo}, d_halo,
                   d_rows);
    }

   private:
    void send_gradients() override {
      pipe_.exchange(*stale_, [&] {
        return pipe_.transfer_.send_gradients(boundary_set(), epoch(), stale_->leaving(), stale_->arriving());
      });
    }
    void add() override {
      pipe_.transfer_.add(boundary_set(), pipe_.returned_epoch(), pipe_.in_use(*stale_), d_rows());
    }

    PipeGcn& pipe_;
    StaleRows* stale_ = nullptr;
  };

  /// Returns the epoch in which those rows left that this epoch uses, and whose gradients it sends back.
  std::int64_t used_epoch() const { return is_refilled(epoch_) ? epoch_ : epoch_ - options_.staleness; }
  /// Returns the epoch in which those rows left whose gradients this epoch adds to its own.
  std::int64_t returned_epoch() const {
    if (options_.staleness == 0 || is_refilled(epoch_)) return epoch_;
    return is_refilled(epoch_ - 1) ? epoch_ - 1 : epoch_ - 2;
  }
  /// Whether `epoch` waited for its own rows and gradients (see the top).
  bool is_refilled(std::int64_t epoch) const { return double(epochs_.at(0, 1)) == double(epoch); }

  std::optional<StaleRows::Smoothing> smoothing(bool on) const {
    if (!on) return {};
    return StaleRows::Smoothing{options_.decay, options_.bias_correction};
  }

  /// Starts this epoch's transfer, and takes the one that is due: the last epoch's, or, without staleness,
  /// the one just started.
  void exchange(StaleRows& stale, FunctionRef<PendingTransfer()> start) {
    if (is_refilled(epoch_)) {  // used as it comes, and again in the next epoch
      stale.start(start());
      return stale.wait();
    }
    const auto nth = std::int64_t(double(epochs_.at(0, 0))) - options_.staleness;
    if (options_.staleness > 0) stale.take(nth, measures_);
    stale.start(start());
    if (options_.staleness == 0) stale.take(nth, measures_);
  }
  MatrixView in_use(StaleRows& stale) const { return is_refilled(epoch_) ? stale.arriving() : stale.used(); }

  const GraphPart& part_;
  PipeGcnOptions options_;
  std::unique_ptr<BoundarySet> boundary_set_;
  HaloTransfer transfer_;
  std::unique_ptr<Exchange> exact_;
  std::vector<bool> fixed_;                  // by layer: its input is the features
  std::vector<StaleRows> rows_, gradients_;  // by layer
  // The number of training passes begun, this one included, and the epoch that was refilled or 0. On the
  // host.
  Matrix epochs_{1, 2};
  std::int64_t epoch_ = 0, passes_ = 0;  // training passes since the exchange was made
  bool measures_ = false;                // whether this pass is measured
  HaloGather there_;
  Back back_{*this};
};

// Strategy `pipegcn`: rows and gradients are one epoch stale; inference is exact.

std::unique_ptr<Schedule> make_pipegcn(const ScheduleInput& in) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return exact_full_batch(in, true);
  const Smoothing smoothing = pipegcn_smoothing(options);
  const double rate = options.number("boundaryRate");
  const bool is_stale = options.integer("staleness") > 0 && rate == 1;
  const PipeGcnOptions chosen{int(options.integer("staleness")),
                              smoothing.rows,
                              smoothing.gradients,
                              options.number("decay"),
                              options.flag("biasCorrection"),
                              is_stale ? in.job.training.evaluate_every : 0};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) -> std::unique_ptr<Exchange> {
    return std::make_unique<PipeGcn>(in.ctx, in.comm, in.holding.part(), layers, chosen,
                                     rate < 1 ? sampled_boundary_rows(in, rate) : all_boundary_rows(in));
  });
}

}  // namespace

Strategy pipegcn_row() {
  return {.kind = "pipegcn",
          .make = make_pipegcn,
          .drops_out = [](const Job&) { return DropsOut::kMakersAndReaders; },
          .sends_products = sends_products};
}

}  // namespace atl
