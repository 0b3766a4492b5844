// The session's side of a dry step (plan/dry_run.h).
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "comm/transports.h"
#include "strategies/schedule/schedule.h"
#include "train/gradient.h"
#include "train/optimizer.h"

namespace atl {

/// The session's side of a step, on labels that nobody reads.
class DryStep final : public TrainingStep {
 public:
  DryStep(Context& ctx, Communicator& comm, const OptimizerSpec& optimizer, bool multi_label,
          Parameters& parameters)
      : ctx_(ctx),
        clip_norm_(optimizer.clip_norm),
        multi_label_(multi_label),
        gradient_(ctx, comm, parameters),
        optimizer_(optimizer, parameters),
        state_(ctx.device, 1) {}

  void loss(ConstMatrixView logits, const LossRows&, MatrixView d_logits) override {
    if (multi_label_) {
      const View<const std::uint8_t> targets(nullptr, logits.rows, logits.cols);
      binary_cross_entropy(ctx_, logits, targets, {}, 1, d_logits, &state_.data()->loss);
    } else {
      cross_entropy(ctx_, logits, nullptr, {}, 1, d_logits, &state_.data()->loss);
    }
  }
  void touches(int layer, std::span<const VertexId> features) override {
    gradient_.touches(ctx_, layer, features);
  }
  void part_done(int layer, int part) override { gradient_.begin_part(ctx_, layer, part); }
  void layer_done(int layer) override { gradient_.begin_sum(ctx_, layer); }
  void update() override {
    gradient_.sum(ctx_);
    gradient_.count_non_finite(ctx_, state_.data());
    gradient_.clip(ctx_, clip_norm_, state_.data());
    optimizer_.step(ctx_, state_.data());
  }

  Index bytes_of_terms() const { return gradient_.bytes(); }

 private:
  Context& ctx_;
  double clip_norm_;
  bool multi_label_;
  Gradient gradient_;
  Optimizer optimizer_;
  Buffer<StepState> state_;
};

// A transport to ranks that don't exist: every message is done at once and moves nothing. So a schedule can
// run one rank of many alone, and the ledger says what the rank would have sent.

/// hosts: by rank, so that the ledger tells servers apart.
std::unique_ptr<Transport> make_dry_transport(Rank rank, std::vector<std::string> hosts);

class DryPending final : public Pending {
 public:
  bool done() override { return true; }
  std::vector<Rank> outstanding() const override { return {}; }
  std::int64_t moved() const override { return 0; }
};

class DryTransport final : public Transport {
 public:
  DryTransport(Rank rank, std::vector<std::string> hosts) : rank_(rank), hosts_(std::move(hosts)) {}
  void open() override {}
  void close(bool) override {}
  Rank rank() const override { return rank_; }
  int size() const override { return int(hosts_.size()); }
  const std::string& host(Rank rank) const override { return hosts_[std::size_t(rank)]; }
  Pending& start(Lane, int, std::span<const Message>, std::span<const Message>) override { return done_; }
  void abandon() override {}
  const char* name() const override { return "dry"; }
  bool carries() const override { return false; }

 private:
  Rank rank_;
  std::vector<std::string> hosts_;
  DryPending done_;
};

inline std::unique_ptr<Transport> make_dry_transport(Rank rank, std::vector<std::string> hosts) {
  return std::make_unique<DryTransport>(rank, std::move(hosts));
}

}  // namespace atl
