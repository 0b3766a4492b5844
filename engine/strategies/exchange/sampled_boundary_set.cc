// Boundary-node sampling (Wan et al. 2022, "BNS-GCN", algorithm 1). In each epoch a rank reads only some of
// the boundary rows of each other rank. They are drawn without replacement, the same for all layers; where k
// of b were drawn, each stands for b/k.
//
// The paper's ranks draw among what they own and send each other the ids. Here a draw is a function of (seed,
// epoch, the owner's part, the reader's part, vertex), so both sides compute it themselves and no ids are
// sent.
#include <algorithm>
#include <limits>
#include <vector>

#include "base/random.h"
#include "job/strategies/boundary_rows.h"
#include "strategies/exchange/boundary_set.h"
#include "strategies/exchange/sampled_block.h"

namespace atl {
namespace {

/// Draws which boundary rows one owner sends one reader in one epoch: those with the lowest keys.
class PairDraw {
 public:
  /// `rows`: the most rows that it draws from.
  explicit PairDraw(Index rows) { keys_.reserve(std::size_t(rows)); }
  /// chosen: ascending positions among `rows` rows whose ids are id_of(position).
  template <class IdOf>
  void draw(const Draws& draws, Index rows, IdOf&& id_of, std::span<VertexId> chosen) {
    keys_.clear();
    for (VertexId i = 0; i < rows; ++i) keys_.push_back({draws.row_key(std::uint64_t(id_of(i))), i});
    std::nth_element(keys_.begin(), keys_.begin() + std::ptrdiff_t(chosen.size()), keys_.end());
    for (std::size_t i = 0; i < chosen.size(); ++i) chosen[i] = keys_[i].second;
    std::ranges::sort(chosen);
  }
  Index bytes() const { return Index(keys_.capacity() * sizeof(keys_[0])); }

 private:
  std::vector<std::pair<std::uint64_t, VertexId>> keys_;
};

class Sampled final : public BoundarySet {
 public:
  Sampled(Context& ctx, const LocalGraph& graph, const Block& outer, const SampledBoundaryOptions& options)
      : BoundarySet(options.wire),
        ctx_(ctx),
        graph_(graph),
        options_(options),
        pair_(most_rows(graph)),
        whole_(memory_of(ctx.device).is_hosts ? outer : graph.outer_block()),
        outer_(outer),
        block_copies_(ctx) {
    Sample empty(ctx);  // has the right sizes, which all samples share
    for (const PeerRows& peer : graph.peers) {
      PeerRows& p = empty.peers.emplace_back(peer);
      p.send.resize(std::size_t(sampled_rows(options.rate, Index(peer.send.size()))));
      p.receive_begin = arriving_;
      p.receive_count = sampled_rows(options.rate, peer.receive_count);
      sent_ += Index(p.send.size());
      arriving_ += p.receive_count;
      const float stands_for = float(double(peer.receive_count) / double(p.receive_count));
      weights_.insert(weights_.end(), std::size_t(p.receive_count), stands_for);
    }
    empty.halo.resize(std::size_t(arriving_));
    for (int slot = 0; slot < kSlots; ++slot) {
      Sample& sample = samples_.emplace_back(ctx);
      sample.peers = empty.peers, sample.halo = empty.halo;
    }
    block_ = std::make_unique<SampledBlock>(whole_, arriving_, options.attention);
    place_block();
  }

  Index sent() const override { return sent_; }
  Index arriving() const override { return arriving_; }
  std::span<const BoundaryRows> peers(std::int64_t epoch) override { return sample(epoch).rows; }

  const Block& block(std::int64_t epoch) override {
    const Sample& drawn = sample(epoch);
    if (cut_ != epoch) {
      ctx_.pool->run(1, [&](Index, int) { block_->cut(drawn.halo, weights_); });
      place_block();
    }
    cut_ = epoch;
    return placed_;
  }

  Index bytes() const override {
    const Index ids = Index(samples_.size()) * (sent_ + arriving_);
    Index copies = block_copies_.bytes();
    for (const Sample& each : samples_) copies += each.copies.bytes();
    return block_->bytes() + pair_.bytes() + copies + ids * Index(sizeof(VertexId)) +
           arriving_ * Index(sizeof(float));
  }

 private:
  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();

  struct Sample {
    explicit Sample(Context& ctx) : copies(ctx) {}
    std::int64_t epoch = kNone;
    std::vector<PeerRows> peers;
    std::vector<VertexId> halo;  // (arriving) halo rows, ascending
    DeviceCopies copies;
    std::vector<BoundaryRows> rows;  // `peers` as kernels read them
  };
  /// One epoch's sample, and the two before it, which are still in use.
  static constexpr int kSlots = 3;

  static Index most_rows(const LocalGraph& graph) {
    Index most = 0;
    for (const PeerRows& peer : graph.peers)
      most = std::max({most, Index(peer.send.size()), peer.receive_count});
    return most;
  }

  const Sample& sample(std::int64_t epoch) {
    Sample& s = samples_[std::size_t(((epoch % kSlots) + kSlots) % kSlots)];
    if (s.epoch == epoch) return s;
    ctx_.pool->run(1, [&](Index, int) { draw(s, epoch); });
    s.epoch = epoch;
    s.copies.restart();
    s.rows.clear();
    for (const PeerRows& each : s.peers) s.rows.push_back(on_device(s.copies, each));
    return s;
  }

  /// The destinations are those of the whole block, and already lie on the device.
  void place_block() {
    Block cut = block_->block();
    cut.dst_ids = {}, cut.dst_scale = nullptr;
    block_copies_.restart();
    placed_ = on_device(block_copies_, cut);
    placed_.dst_ids = outer_.dst_ids, placed_.dst_scale = outer_.dst_scale;
  }

  void draw(Sample& s, std::int64_t epoch) {
    for (std::size_t p = 0; p < s.peers.size(); ++p) {
      const PeerRows& all = graph_.peers[p];
      PeerRows& some = s.peers[p];
      pair_.draw(
          draws(epoch, graph_.part, all.part), Index(all.send.size()),
          [&](VertexId i) { return graph_.ids[std::size_t(all.send[std::size_t(i)])]; }, some.send);
      for (VertexId& row : some.send) row = all.send[std::size_t(row)];

      const std::span<VertexId> halo =
          std::span(s.halo).subspan(std::size_t(some.receive_begin), std::size_t(some.receive_count));
      const Index first = graph_.owned + all.receive_begin;
      pair_.draw(
          draws(epoch, all.part, graph_.part), all.receive_count,
          [&](VertexId i) { return graph_.ids[std::size_t(first + i)]; }, halo);
      for (VertexId& row : halo) row += VertexId(all.receive_begin);
    }
  }

  Draws draws(std::int64_t epoch, int owner, int reader) const {
    return {options_.seed, Purpose::kSampling, std::uint64_t(epoch),
            std::uint64_t(owner) << 32 | std::uint64_t(reader)};
  }

  Context& ctx_;
  const LocalGraph& graph_;
  SampledBoundaryOptions options_;
  Index sent_ = 0, arriving_ = 0;
  std::vector<float> weights_;  // (arriving): how many rows each stands for
  std::vector<Sample> samples_;
  PairDraw pair_;
  // The block of all halo rows, in the host's memory. On a CPU this is `outer_`, because a dry part has arcs
  // only in that block.
  const Block whole_;
  const Block& outer_;        // all halo rows, in the device's memory
  std::int64_t cut_ = kNone;  // the epoch that block_ was cut for
  std::unique_ptr<SampledBlock> block_;
  DeviceCopies block_copies_;
  Block placed_;  // block_ as kernels read it
};

}  // namespace

std::unique_ptr<BoundarySet> make_sampled_boundary_set(Context& ctx, const LocalGraph& graph,
                                                       const Block& outer,
                                                       const SampledBoundaryOptions& options) {
  return std::make_unique<Sampled>(ctx, graph, outer, options);
}

}  // namespace atl
