#include "plan/emulated_transport.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <utility>

#include "comm/mpi_transport.h"
#include "plan/socket_work.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;
constexpr Seconds kLatency{50e-6};  // between servers: Ethernet's

/// One way of a rank's links. Bulk, and what is fetched ahead, leave in the order of starts; what is small passes all of it but
/// what stands before the link.
class Way {
 public:
  /// `queue`: what that takes to leave.
  explicit Way(Seconds queue) : queue_(std::chrono::duration_cast<Clock::duration>(queue)) {}
  /// How far a group of messages has come.
  struct Leg {
    Clock::time_point begin, end;  // where nothing small comes between
    Clock::duration delay{};       // of the way, at its start
  };
  Leg carry(Lane lane, Seconds length) {
    const auto now = Clock::now(), free = std::max(free_, now);
    const auto begin = lane != Lane::kSmall ? free : std::min(free, now + queue_);
    const auto takes = std::chrono::duration_cast<Clock::duration>(length);
    const Leg leg{begin, begin + takes, delay_};
    if (lane != Lane::kSmall) free_ = leg.end;
    if (lane == Lane::kSmall && free_ > now) free_ += takes, delay_ += takes;
    return leg;
  }
  /// 0 … 1
  double share_done(Lane lane, const Leg& leg, Clock::time_point now) const {
    const auto late = lane != Lane::kSmall ? delay_ - leg.delay : Clock::duration(0);
    const auto end = leg.end + late;
    return now >= end ? 1
                      : std::clamp(Seconds(now - leg.begin - late) / Seconds(leg.end - leg.begin), 0.0, 1.0);
  }

 private:
  Clock::duration queue_;
  Clock::time_point free_{};
  Clock::duration delay_{};
};

/// A group on its way. Done when both ways have carried it; the work of that is done by whoever asks.
class Underway final : public Pending {
 public:
  void start(Lane lane, const Way& out, const Way& in, const Way::Leg& sent, const Way::Leg& received,
             std::int64_t bytes, SocketWork& work) {
    lane_ = lane, out_ = &out, in_ = &in, sent_ = sent, received_ = received;
    bytes_ = bytes, worked_ = 0, work_ = &work;
  }
  bool done() override {
    const auto now = Clock::now();
    const double share =
        std::min(out_->share_done(lane_, sent_, now), in_->share_done(lane_, received_, now));
    const auto due = std::int64_t(share * double(bytes_));
    work_->carry(due - std::exchange(worked_, due));
    return share >= 1;
  }
  std::vector<Rank> outstanding() const override { return {}; }
  std::int64_t moved() const override { return worked_; }

 private:
  Lane lane_ = Lane::kSmall;
  const Way *out_ = nullptr, *in_ = nullptr;
  Way::Leg sent_, received_;
  std::int64_t bytes_ = 0, worked_ = 0;
  SocketWork* work_ = nullptr;
};

class EmulatedTransport final : public Transport {
 public:
  EmulatedTransport(Rank rank, std::vector<std::string> hosts, const EmulatedLinks& links)
      : rank_(rank), hosts_(std::move(hosts)), links_(links), out_(queue()), in_(out_), work_(links.work) {}
  void open() override {}
  void close(bool) override {}
  Rank rank() const override { return rank_; }
  int size() const override { return int(hosts_.size()); }
  const std::string& host(Rank rank) const override { return hosts_[std::size_t(rank)]; }
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    for (const Message& message : receives) std::memset(message.data, 0, std::size_t(message.bytes));
    Load sent = load_of(sends), received = load_of(receives);
    if (lane != Lane::kSmall) {
      const bool more_out = sent.inter > received.inter;
      sent.inter_seconds *= more_out ? links_.busiest.heavier : links_.busiest.lighter;
      received.inter_seconds *= more_out ? links_.busiest.lighter : links_.busiest.heavier;
    }
    Underway& pending = underway_[std::size_t(lane)][std::size_t(slot)];
    pending.start(lane, out_, in_, out_.carry(lane, sent.length()), in_.carry(lane, received.length()),
                  std::int64_t(sent.inter + received.inter) / 2, work_);
    return pending;
  }
  void abandon() override {}
  const char* name() const override { return "emulated"; }

 private:
  /// The server's, whose link its ranks share.
  Seconds queue() const {
    const auto sharing = std::ranges::count(hosts_, host(rank_));
    return Seconds(double(kQueuedBytes) / (links_.inter * double(sharing)));
  }

  struct Load {
    double inter;  // bytes between servers
    Seconds inter_seconds, other_seconds;
    Seconds length() const { return inter_seconds + other_seconds; }
  };
  Load load_of(std::span<const Message> messages) const {
    double inter = 0, intra = 0;
    bool crosses = false;
    for (const Message& message : messages) {
      const bool inside = host(message.peer) == host(rank_);
      (inside ? intra : inter) += double(message.bytes);
      crosses |= !inside;
    }
    return {inter, Seconds(inter / links_.inter),
            (crosses ? kLatency : Seconds(0)) + Seconds(intra / links_.intra)};
  }

  Rank rank_;
  std::vector<std::string> hosts_;
  EmulatedLinks links_;
  std::array<std::array<Underway, kSlots>, kLanes> underway_;
  Way out_, in_;
  SocketWork work_;
};

}  // namespace

std::unique_ptr<Transport> make_emulated_transport(Rank rank, std::vector<std::string> hosts,
                                                   const EmulatedLinks& links) {
  return std::make_unique<EmulatedTransport>(rank, std::move(hosts), links);
}

}  // namespace atl
