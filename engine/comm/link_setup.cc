#include "comm/link_setup.h"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "base/error.h"
#include "comm/silence.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::microseconds kNap{100};
constexpr std::chrono::seconds kGrace{5};  // for the library to give up

/// The setup's messages go over the lane that nobody uses yet, receives and sends in slots of their own.
constexpr int kReceives = 0, kSends = 1;

template <class T>
Message message(Rank peer, T& value) {
  return {peer, reinterpret_cast<std::byte*>(&value), sizeof value};
}

void await(Transport& host, Pending& pending, milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  while (!pending.done()) {
    if (Clock::now() > until)
      fail("{}{}", silence_of(Traffic::kSetup, timeout, names_of(host, pending.outstanding())),
           kSilenceAdvice);
    std::this_thread::sleep_for(kNap);
  }
}

/// A value of each rank's.
template <class T>
class Gathering {
 public:
  explicit Gathering(Transport& host) : host_(host), all_(std::size_t(host.size())) {
    std::vector<Message> receives;
    for (Rank r = 0; r < host_.size(); ++r)
      if (r != host_.rank()) receives.push_back(message(r, all_[std::size_t(r)]));
    comes_ = &host_.start(Lane::kPrefetch, kReceives, {}, receives);
  }
  /// Nothing comes to this memory any more.
  ~Gathering() {
    if (!whole_) host_.abandon();
  }
  /// Those that have come so far; the others' are as they are made.
  const std::vector<T>& so_far() {
    comes_->done();
    return all_;
  }
  const std::vector<T>& with(const T& mine, milliseconds timeout) {
    T& own = all_[std::size_t(host_.rank())] = mine;
    std::vector<Message> sends;
    for (Rank r = 0; r < host_.size(); ++r)
      if (r != host_.rank()) sends.push_back(message(r, own));
    await(host_, host_.start(Lane::kPrefetch, kSends, sends, {}), timeout);
    await(host_, *comes_, timeout);
    whole_ = true;
    return all_;
  }

 private:
  Transport& host_;
  std::vector<T> all_;
  Pending* comes_;
  bool whole_ = false;
};

std::string named(const Transport& host, Rank rank) {
  return names_of(host, {rank});
}

/// Empty: all can be linked.
std::string obstacle(const Transport& host, const std::vector<LinkOffer>& offers) {
  for (std::size_t r = 0; r < offers.size(); ++r) {
    if (offers[r].why_not[0] != 0) return fmt::format("{}: {}", named(host, Rank(r)), offers[r].why_not.data());
    if (offers[r].library != offers[0].library)
      return fmt::format("{} has {}, {} has {}", named(host, 0), offers[0].library.data(), named(host, Rank(r)),
                         offers[r].library.data());
    for (std::size_t other = 0; other < r; ++other)
      if (offers[other].device == offers[r].device)
        return fmt::format("{} and {} share a GPU", named(host, Rank(other)), named(host, Rank(r)));
  }
  return {};
}

/// How a rank's joining has ended; empty: well, or not yet.
using Failure = std::array<char, 256>;

std::string first_failure(const Transport& host, const std::vector<Failure>& all) {
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r][0] != 0) return fmt::format("{}: {}", named(host, Rank(r)), all[r].data());
  return {};
}

/// Returns when all have joined, or one has said that it can't: whoever can't says so at once, so that nobody waits for it.
void await_joined(DeviceLinks& links, Transport& host, Gathering<Failure>& failures, milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  while (!links.joined()) {
    if (!first_failure(host, failures.so_far()).empty()) return;
    if (Clock::now() > until)
      fail("not all ranks have joined within {:g} s", std::chrono::duration<double>(timeout).count());
    std::this_thread::sleep_for(kNap);
  }
}

}  // namespace

LinkSetup set_up_links(Transport& host, const LinkMaker& maker, const LinkOffer& mine, int rank_here,
                       milliseconds timeout) {
  LinkSetup setup;
  setup.why_not = obstacle(host, Gathering<LinkOffer>(host).with(mine, timeout));
  if (!setup.why_not.empty()) return setup;
  const LinkKey key =
      Gathering<LinkKey>(host).with(host.rank() == 0 ? maker.make_key() : LinkKey{}, timeout)[0];
  Gathering<Failure> failures(host);
  Failure own{};
  try {
    setup.links = maker.join(rank_here, host.rank(), host.size(), key);
    await_joined(*setup.links, host, failures, timeout / 2);
  } catch (const Error& error) {
    std::string(error.what()).copy(own.data(), own.size() - 1);
  }
  setup.why_not = first_failure(host, failures.with(own, timeout));
  if (!setup.why_not.empty() && setup.links != nullptr) give_up(std::move(setup.links));
  return setup;
}

bool give_up(std::unique_ptr<DeviceLinks> links) {
  std::promise<void> over;
  std::future<void> is_over = over.get_future();
  std::thread([links = std::move(links), over = std::move(over)]() mutable {
    links->abandon();
    over.set_value();
  }).detach();
  return is_over.wait_for(kGrace) == std::future_status::ready;
}

}  // namespace atl
