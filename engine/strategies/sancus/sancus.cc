// Sancus' exchange (Peng et al. 2022): CAGNET's broadcasts, except that a block that has hardly changed isn't
// sent, and other ranks go on with their copy of its rows. Each layer's blocks are judged separately, by one
// of two rules:
//   fixed: the authors' code (chenzhao/light-dist-gnn, models/cached_gcn.py) sends all blocks in every
//   epoch up to `warmup`, then in one of `every`.
//   bounded: the paper's bounded staleness. A block isn't sent while ‖H − H'‖ ≤ threshold · ‖H'‖, where H'
//   are the rows sent last, for at most `staleness` epochs. Its owner decides, and tells all others before
//   the blocks travel.
//
// The authors' code broadcasts gradients in every epoch. So the gradient of a cached row reaches its owner as
// if the row were of this epoch. Without `gradients_of_cached_rows`, gradients travel only where rows did.
// The result is then the gradient of what was computed, with cached rows as constants.
//
// Evaluation, and what is gathered once, is exact: all blocks travel, to separate memory.
#include "strategies/sancus/sancus.h"

#include <algorithm>
#include <utility>

#include "strategies/exchange/block_rounds.h"
#include "strategies/schedule/owner_view.h"
#include "strategies/schedule/rows.h"
#include "tensor/copies.h"

namespace atl {
namespace {

class Sancus final : public Exchange {
 public:
  Sancus(Context& ctx, Communicator& comm, const GraphPart& part, const OwnerBlocks& blocks,
         const std::vector<ExchangedLayer>& layers, const SancusOptions& options)
      : ctx_(ctx),
        comm_(comm),
        options_(options),
        rounds_(ctx, comm, part, blocks, layers, {comm.size(), 1}, options.wire),
        squares_(ctx.device, 1) {
    for (const ExchangedLayer& each : layers) {
      const Index cols = each.travels() ? each.cols : 0;
      layers_.push_back({each.fixed, rounds_.all(), {}, {}});
      layers_.back().cached.resize(rounds_.halo_rows(), cols, ctx.device);
      layers_.back().cached.zero();
      if (!bounded()) continue;
      layers_.back().sent.resize(part.graph->owned, cols, ctx.device);
      layers_.back().sent.zero();
    }
    exact_halo_.resize(rounds_.halo_rows(), rounds_.widest(), ctx.device);
    passes_.zero();
    ages_.resize(1, Index(layers.size()));
    ages_.zero();
  }

  std::vector<Index> source_rows(int) const override { return rounds_.source_rows(); }
  Index bytes() const override {
    Index total = rounds_.bytes() + exact_halo_.held_bytes();
    for (const Layer& each : layers_) total += each.cached.held_bytes() + each.sent.held_bytes();
    return total;
  }

  void begin(std::int64_t epoch, bool training) override {
    if (!training) return;
    epoch_ = epoch;
    passes_.at(0, 0) += 1;
  }

  Gather& gather(const GatherRequest& g) override {
    Layer& layer = layers_[std::size_t(g.layer)];
    if (layer.fixed) return rounds_.gather_features(g.rows);
    if (g.purpose == Traffic::kRecompute)  // uses the rows that forward used
      return rounds_.gather(g, none_, layer.cached);
    if (g.purpose != Traffic::kHalo) return rounds_.gather(g, rounds_.all(), exact_halo(g));
    if (bounded()) {
      ask_owners(g, layer.travels);
    } else {
      layer.travels.assign(none_.size(), is_due());
    }
    return rounds_.gather(g, layer.travels, layer.cached);
  }

  Gather& gather_back(const GatherRequest& g, MatrixView d_rows) override {
    Layer& layer = layers_[std::size_t(g.layer)];
    if (layer.fixed) return rounds_.gather_features(g.rows);
    const Travels& sent_back = options_.gradients_of_cached_rows ? rounds_.all() : layer.travels;
    return rounds_.gather_back(g, sent_back, layer.cached, d_rows);
  }

  std::vector<NamedMatrix> state() override {
    std::vector<NamedMatrix> all{{"sancus.passes", passes_}, {"sancus.ages", ages_}};
    for (std::size_t l = 0; l < layers_.size(); ++l) {
      if (layers_[l].cached.cols() == 0) continue;
      all.push_back({fmt::format("sancus.cached.{}", l), layers_[l].cached, ctx_.device});
      if (bounded()) all.push_back({fmt::format("sancus.sent.{}", l), layers_[l].sent, ctx_.device});
    }
    if (all.size() == 2) all.clear();  // nothing is cached, so the counts aren't needed
    return all;
  }

 private:
  using Travels = CagnetRounds::Travels;
  struct Layer {
    bool fixed;       // its input is the features
    Travels travels;  // which blocks travel in this epoch
    Matrix cached;    // (halo, cols): other ranks' rows as last received
    Matrix sent;      // (owned, cols): own rows as last sent; bounded rule
  };

  struct Squares {
    double sent, change;  // Σ of squares of the rows sent last, and of their change since
  };

  bool bounded() const { return options_.rule == SancusOptions::Rule::kBounded; }
  bool is_first() const { return passes_.at(0, 0) == 1; }  // no rank has other ranks' rows yet

  bool is_due() const {
    return is_first() || epoch_ <= options_.warmup || (epoch_ - options_.warmup) % options_.every == 0;
  }

  /// By the bounded rule, each owner decides on its own block and tells all ranks.
  void ask_owners(const GatherRequest& g, Travels& travels) {
    stays_.assign(none_.size(), 0);
    stays_[std::size_t(comm_.rank())] = decide_to_stay(g) ? 1 : 0;
    comm_.all_reduce(Traffic::kStatistics, stays_);
    std::transform(stays_.begin(), stays_.end(), travels.begin(),
                   [](std::int64_t each) { return each == 0; });
  }

  bool decide_to_stay(const GatherRequest& g) {
    Matrix& sent = layers_[std::size_t(g.layer)].sent;
    Real& age = ages_.at(0, g.layer);
    const bool near = is_near(g.rows.dense, sent);
    if (near && !is_first() && double(age) < double(options_.staleness)) {
      age += 1;
      return true;
    }
    age = 0;
    axpby(ctx_, 1, g.rows.dense, 0, sent);
    return false;
  }

  bool is_near(ConstMatrixView rows, const Matrix& sent) {
    static constexpr ScratchKey kChange;
    MatrixView change = ctx_.workspace->matrix(kChange, rows.rows, rows.cols);
    axpby(ctx_, 1, rows, 0, change);
    axpby(ctx_, -1, sent, 1, change);
    const Index count = rows.rows * rows.cols;
    Squares* const sums = squares_.data();
    zero_sums(ctx_, {&sums->sent, 1});
    zero_sums(ctx_, {&sums->change, 1});
    squared_norm(ctx_, count, sent.data(), &sums->sent);
    squared_norm(ctx_, count, change.data, &sums->change);
    const auto [of_sent, of_change] = read(ctx_, std::as_const(squares_).data());
    return of_change <= options_.threshold * options_.threshold * of_sent;
  }

  MatrixView exact_halo(const GatherRequest& g) {
    return {exact_halo_.data(), rounds_.halo_rows(), g.rows.cols()};
  }

  Context& ctx_;
  Communicator& comm_;
  SancusOptions options_;
  CagnetRounds rounds_;
  const Travels none_ = Travels(rounds_.all().size(), false);
  std::vector<Layer> layers_;
  Matrix exact_halo_;                // (halo, widest), for evaluation
  std::vector<std::int64_t> stays_;  // by rank: whether its block isn't sent; bounded rule
  Buffer<Squares> squares_;          // (1) bounded rule
  std::int64_t epoch_ = 0;
  Matrix passes_{1, 1};  // on the host: training passes since rows were first cached, with this one
  Matrix ages_;          // (1, layers), on the host: epochs since own rows were sent; bounded rule
};

}  // namespace

std::unique_ptr<Exchange> make_sancus_exchange(Context& ctx, Communicator& comm, const GraphPart& part,
                                               const OwnerBlocks& blocks,
                                               const std::vector<ExchangedLayer>& layers,
                                               const SancusOptions& options) {
  return std::make_unique<Sancus>(ctx, comm, part, blocks, layers, options);
}

// Strategy `sancus`: CAGNET's blocks, left out while they have hardly changed; inference uses all of them.

namespace {

std::unique_ptr<Schedule> make_sancus(const ScheduleInput& in, const OwnerBlocks& blocks) {
  const Options& options = in.job.strategy.options;
  if (in.inference_only) return all_blocks_full_batch(in, blocks);
  using Rule = SancusOptions::Rule;
  const SancusOptions chosen{options.text("rule") == "fixed" ? Rule::kFixed : Rule::kBounded,
                             options.integer("warmup"),
                             options.integer("every"),
                             options.number("threshold"),
                             options.integer("staleness"),
                             options.text("gradients") == "always",
                             in.job.wire()};
  return full_batch_over(in, [&](const std::vector<ExchangedLayer>& layers) {
    return make_sancus_exchange(in.ctx, in.comm, in.holding.part(), blocks, layers, chosen);
  });
}

std::unique_ptr<PartView> sancus_view(const ViewInput& in) {
  return std::make_unique<OwnerView>(in, make_sancus);
}

}  // namespace

Strategy sancus_row() {
  return {.kind = "sancus", .view = sancus_view, .drops_out = [](const Job&) { return DropsOut::kReaders; }};
}

}  // namespace atl
