#include "comm/linked_transport.h"

#include <algorithm>
#include <array>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/error.h"
#include "comm/link_setup.h"
#include "comm/silence.h"
#include "tensor/backend.h"

namespace atl {
namespace {

/// What a rank tells the other one of a message when it has come to it.
struct Token {
  std::int64_t bytes = 0, sent = 0;
};

class LinkedGroup;

/// What the groups share.
struct Linked {
  const Transport& host;
  std::int64_t round_bytes;
  std::unique_ptr<DeviceLinks> links;
  std::deque<LinkedGroup*> order;  // groups that have yet to be launched to their end
};

class LinkedGroup final : public Pending {
 public:
  LinkedGroup(Linked& linked, int slot) : linked_(linked), slot_(slot) {}

  /// Then start_host() with what the host's transport is to send and receive in their stead.
  void take(std::span<const Message> sends, std::span<const Message> receives) {
    sends_.clear(), receives_.clear(), host_sends_.clear(), host_receives_.clear();
    told_.assign(sends.size() + receives.size(), {});
    heard_.assign(told_.size(), {});
    Token *tells = told_.data(), *hears = heard_.data();
    for (const Message& each : sends) {
      if (!is_on_device(each)) {
        host_sends_.push_back(each);
        continue;
      }
      sends_.push_back({each.peer, each.data, each.bytes});
      host_sends_.push_back(of(each.peer, *tells++ = {each.bytes, 1}));
    }
    for (const Message& each : receives) {
      if (!is_on_device(each)) {
        host_receives_.push_back(each);
        continue;
      }
      receives_.push_back({each.peer, each.data, each.bytes});
      host_receives_.push_back(of(each.peer, *hears++));
    }
    for (const DeviceMessage& each : receives_)
      host_sends_.push_back(of(each.peer, *tells++ = {each.bytes, 0}));
    for (const DeviceMessage& each : sends_) host_receives_.push_back(of(each.peer, *hears++));
  }
  void start_host(Transport& host, Lane lane) {
    host_ = &host.start(lane, slot_, host_sends_, host_receives_);
    has_come_ = false;
    rounds_ = begun_ = over_ = 0;
    for (const auto* messages : {&sends_, &receives_})
      for (const DeviceMessage& each : *messages)
        rounds_ = std::max(rounds_, (each.bytes + linked_.round_bytes - 1) / linked_.round_bytes);
    if (rounds_ > 0) linked_.order.push_back(this);
  }

  bool done() override {
    if (!has_come_) {
      if (!host_->done()) return false;
      check_tokens();
      has_come_ = true;
    }
    try {
      return rounds_done();
    } catch (const Error& error) {
      fail("{}; on {}, for messages from or to {}", error.what(),
           names_of(linked_.host, {linked_.host.rank()}), names_of(linked_.host, outstanding()));
    }
  }
  std::vector<Rank> outstanding() const override {
    if (!has_come_) return host_->outstanding();
    std::vector<Rank> ranks;
    for (const auto* messages : {&sends_, &receives_})
      for (const DeviceMessage& each : *messages) ranks.push_back(each.peer);
    std::ranges::sort(ranks);
    ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
    return ranks;
  }
  std::int64_t moved() const override { return host_->moved() + over_; }
  bool is_under_way() const { return begun_ > over_; }

 private:
  static bool is_on_device(const Message& each) {
    return each.bytes > 0 && backend().memory.holds(each.data, std::size_t(each.bytes));
  }
  static Message of(Rank peer, Token& token) {
    return {peer, reinterpret_cast<std::byte*>(&token), sizeof token};
  }

  /// Those of receives come first, then those of sends.
  void check_tokens() const {
    const Token* hears = heard_.data();
    const auto check = [&](const DeviceMessage& each, bool other_sends) {
      const auto [bytes, sent] = *hears++;
      ATOLL_CHECK(bytes == each.bytes && (sent != 0) == other_sends,
                  "rank {} {} {} bytes where rank {} {} {}: their transfers are in different orders",
                  each.peer, sent != 0 ? "sends" : "receives", bytes, linked_.host.rank(),
                  other_sends ? "receives" : "sends", each.bytes);
    };
    for (const DeviceMessage& each : receives_) check(each, true);
    for (const DeviceMessage& each : sends_) check(each, false);
  }

  /// Launches what is its turn.
  bool rounds_done() {
    while (over_ < rounds_) {
      if (begun_ == over_) {
        if (linked_.order.front() != this) return false;
        linked_.links->begin(slot_, part(sends_, sent_part_), part(receives_, received_part_));
        if (++begun_ == rounds_) linked_.order.pop_front();
      }
      if (!linked_.links->done(slot_)) return false;
      ++over_;
    }
    return true;
  }

  /// What goes of each message in the round that begins.
  std::span<const DeviceMessage> part(const std::vector<DeviceMessage>& whole,
                                      std::vector<DeviceMessage>& into) const {
    into.clear();
    const std::int64_t at = begun_ * linked_.round_bytes;
    for (const DeviceMessage& each : whole)
      if (at < each.bytes)
        into.push_back({each.peer, each.data + at, std::min(linked_.round_bytes, each.bytes - at)});
    return into;
  }

  Linked& linked_;
  int slot_;
  Pending* host_ = nullptr;
  bool has_come_ = false;                           // all its ranks have
  std::int64_t rounds_ = 0, begun_ = 0, over_ = 0;  // of the devices' messages
  std::vector<DeviceMessage> sends_, receives_, sent_part_, received_part_;
  std::vector<Message> host_sends_, host_receives_;
  std::vector<Token> told_, heard_;
};

class LinkedTransport final : public Transport {
 public:
  LinkedTransport(std::unique_ptr<Transport> host, LinkOptions options)
      : options_(std::move(options)),
        host_(std::move(host)),
        linked_{*host_, options_.round_bytes, nullptr, {}} {
    for (int slot = 0; slot < slots_of(kLinked); ++slot) groups_.emplace_back(linked_, slot);
  }

  void open() override {
    host_->open();
    const LinkMaker* const maker = backend().links;
    if (host_->size() == 1 || maker == nullptr) return;
    LinkSetup setup = set_up_links(*host_, *maker, options_);
    linked_.links = std::move(setup.links);
    if (linked_.links != nullptr) name_ = maker->name;
    if (options_.why_staged != nullptr) *options_.why_staged = setup.why_not;
  }

  void close(bool orderly) override {
    const auto until = std::chrono::steady_clock::now() + options_.timeout;
    while (orderly && linked_.links != nullptr && !linked_.links->left()) {
      if (std::chrono::steady_clock::now() > until) break;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    if (!orderly && linked_.links != nullptr) give_up(std::move(linked_.links));
    linked_.links.reset();
    host_->close(orderly);
  }

  Rank rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::string& host(Rank rank) const override { return host_->host(rank); }
  const char* name() const override { return name_ != nullptr ? name_ : host_->name(); }
  bool carries() const override { return host_->carries(); }
  void sums_go_first(bool first) override { host_->sums_go_first(first); }

  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    if (lane != kLinked || linked_.links == nullptr) return host_->start(lane, slot, sends, receives);
    LinkedGroup& group = groups_[std::size_t(slot)];
    group.take(sends, receives);
    group.start_host(*host_, lane);
    return group;
  }

  void abandon() override {
    host_->abandon();
    if (linked_.links == nullptr) return;
    const bool under_way = std::ranges::any_of(groups_, &LinkedGroup::is_under_way);
    if (give_up(std::move(linked_.links)) || !under_way) return;
    if (options_.on_stuck)
      options_.on_stuck(
          fmt::format("{} doesn't give up what is under way; ranks or links may be down", name_));
  }

 private:
  static constexpr Lane kLinked = Lane::kBulk;

  LinkOptions options_;
  std::unique_ptr<Transport> host_;
  Linked linked_;
  std::deque<LinkedGroup> groups_;  // by slot
  const char* name_ = nullptr;      // null: the host's
};

}  // namespace

std::unique_ptr<Transport> make_linked_transport(std::unique_ptr<Transport> host,
                                                 const LinkOptions& options) {
  return std::make_unique<LinkedTransport>(std::move(host), options);
}

}  // namespace atl
