// Ranks on devices with links of their own (NCCL). Bulk rows in a device's memory go from device to device,
// and bulk sums over all ranks are made there. The host's transport carries everything else.
//
// Before a message goes from device to device, its two ranks tell each other over the host's transport that
// they have come to it. A group of messages is launched once the ranks of all its messages have come. So no
// device waits for a rank that still computes, and a rank that never comes is known by name. A sum is such a
// group, of all ranks. Groups are launched one after the other, in the order of their starts, on one
// communicator. No deadlock can arise if all ranks start groups in the same order, with a pair's messages in
// the same groups: the oldest unfinished group waits for no later one.
#include "comm/linked_transport.h"

#include <algorithm>
#include <deque>
#include <thread>
#include <utility>

#include "base/error.h"
#include "tensor/backend.h"

namespace atl {
namespace {

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
    const bool is_left = orderly && linked_.links != nullptr && leave_links();
    if (!is_left && linked_.links != nullptr) give_up(std::move(linked_.links));
    linked_.links.reset();
    host_->close(orderly);
  }

  Rank rank() const override { return host_->rank(); }
  int size() const override { return host_->size(); }
  const std::string& host(Rank rank) const override { return host_->host(rank); }
  const char* name() const override { return name_ != nullptr ? name_ : host_->name(); }
  bool carries() const override { return host_->carries(); }
  void sums_go_first(bool first) override { host_->sums_go_first(first); }
  bool tell_arrivals(const std::function<void()>& told) override { return host_->tell_arrivals(told); }
  /// No event tells that a group on links is over.
  bool must_be_polled() const override { return linked_.links != nullptr || host_->must_be_polled(); }

  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    if (lane != kLinked || linked_.links == nullptr) return host_->start(lane, slot, sends, receives);
    LinkedGroup& group = groups_[std::size_t(slot)];
    group.take(sends, receives);
    group.start_host(*host_, lane);
    return group;
  }
  bool sums_on_devices() const override { return name_ != nullptr; }
  Pending& start_sum(int slot, std::span<Real> values) override {
    LinkedGroup& group = groups_[std::size_t(slot)];
    group.take_sum(values);
    group.start_host(*host_, kLinked);
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

  /// Leaves the links in step with the other ranks. False if these don't leave within the time-out.
  /// Destroying links that some rank hasn't left may hang, for example when a peer is lost.
  bool leave_links() {
    const auto until = std::chrono::steady_clock::now() + options_.timeout;
    while (!linked_.links->left()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    return true;
  }

  LinkOptions options_;
  std::unique_ptr<Transport> host_;
  Linked linked_;
  std::deque<LinkedGroup> groups_;  // by slot
  const char* name_ = nullptr;      // null: the host's name
};

}  // namespace

std::unique_ptr<Transport> make_linked_transport(std::unique_ptr<Transport> host,
                                                 const LinkOptions& options) {
  return std::make_unique<LinkedTransport>(std::move(host), options);
}

}  // namespace atl
