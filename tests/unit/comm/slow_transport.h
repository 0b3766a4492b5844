// A local transport whose bulk messages take a while, as over a slow link.
#pragma once

#include <array>
#include <chrono>
#include <memory>
#include <vector>

#include "comm/forwarding_transport.h"
#include "comm/transports.h"

namespace atl {

/// Done no sooner than `delay` after its start.
class SlowPending final : public Pending {
 public:
  void restart(Pending& inner, std::chrono::microseconds delay) {
    inner_ = &inner;
    ready_ = std::chrono::steady_clock::now() + delay;
  }
  bool done() override { return inner_->done() && std::chrono::steady_clock::now() >= ready_; }
  std::vector<Rank> outstanding() const override { return inner_->outstanding(); }
  std::int64_t moved() const override { return inner_->moved(); }

 private:
  Pending* inner_ = nullptr;
  std::chrono::steady_clock::time_point ready_;
};

class SlowTransport final : public ForwardingTransport {
 public:
  SlowTransport(std::unique_ptr<Transport> inner, std::chrono::microseconds delay)
      : ForwardingTransport(std::move(inner)), delay_(delay) {}
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    Pending& started = ForwardingTransport::start(lane, slot, sends, receives);
    if (lane != Lane::kBulk) return started;
    SlowPending& bulk = bulk_[std::size_t(slot)];
    bulk.restart(started, delay_);
    return bulk;
  }

 private:
  std::chrono::microseconds delay_;
  std::array<SlowPending, kSlots> bulk_;
};

/// A group as of make_local_group().
inline std::vector<std::unique_ptr<Transport>> make_slow_group(int ranks, std::chrono::microseconds delay) {
  std::vector<std::unique_ptr<Transport>> slow;
  for (auto& transport : make_local_group(ranks))
    slow.push_back(std::make_unique<SlowTransport>(std::move(transport), delay));
  return slow;
}

}  // namespace atl
