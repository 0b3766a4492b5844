#include "plan/emulated_transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
constexpr Seconds kLatency{50e-6};  // between servers: Ethernet's

class Underway final : public Pending {
 public:
  void until(Clock::time_point end) { end_ = end; }
  bool done() override { return Clock::now() >= end_; }
  std::vector<Rank> outstanding() const override { return {}; }

 private:
  Clock::time_point end_;
};

class EmulatedTransport final : public Transport {
 public:
  EmulatedTransport(Rank rank, std::vector<std::string> hosts, const EmulatedLinks& links)
      : rank_(rank), hosts_(std::move(hosts)), links_(links) {}
  void open() override {}
  void close(bool) override {}
  Rank rank() const override { return rank_; }
  int size() const override { return int(hosts_.size()); }
  const std::string& host(Rank rank) const override { return hosts_[std::size_t(rank)]; }
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    for (const Message& message : receives) std::memset(message.data, 0, std::size_t(message.bytes));
    Way &out = out_[std::size_t(lane)], &in = in_[std::size_t(lane)];
    Underway& pending = underway_[std::size_t(lane)][std::size_t(slot)];
    pending.until(std::max(out.carry(length_of(sends)), in.carry(length_of(receives))));
    return pending;
  }
  void abandon() override {}
  const char* name() const override { return "emulated"; }

 private:
  /// One way of this rank's links: what a lane sends leaves in the order of starts.
  struct Way {
    Clock::time_point free{};
    Clock::time_point carry(Seconds length) {
      return free = std::max(free, Clock::now()) + std::chrono::duration_cast<Clock::duration>(length);
    }
  };

  Seconds length_of(std::span<const Message> messages) const {
    double inter = 0, intra = 0;
    bool crosses = false;
    for (const Message& message : messages) {
      const bool inside = host(message.peer) == host(rank_);
      (inside ? intra : inter) += double(message.bytes);
      crosses |= !inside;
    }
    return (crosses ? kLatency : Seconds(0)) + Seconds(inter / links_.inter + intra / links_.intra);
  }

  Rank rank_;
  std::vector<std::string> hosts_;
  EmulatedLinks links_;
  std::array<std::array<Underway, kSlots>, kLanes> underway_;
  std::array<Way, kLanes> out_, in_;
};

}  // namespace

std::unique_ptr<Transport> make_emulated_transport(Rank rank, std::vector<std::string> hosts,
                                                   const EmulatedLinks& links) {
  return std::make_unique<EmulatedTransport>(rank, std::move(hosts), links);
}

}  // namespace atl
