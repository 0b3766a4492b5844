// How ranks set up links between their devices (tensor/device_links.h). They tell each other over the host's
// transport what each can offer, and rank 0 makes a key. Then all join, and each sends a few bytes to the
// next as a proof. Either all ranks have links, or none has.
#include "comm/linked_transport.h"

#include <algorithm>
#include <future>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/function_ref.h"
#include "comm/wait_board.h"
#include "tensor/backend.h"
#include "tensor/buffer.h"

namespace atl {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr std::chrono::microseconds kNap{100};
constexpr std::chrono::seconds kGrace{5};  // how long the library may take to give up

/// The setup uses a lane that is still idle, with separate slots for receives and sends.
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

/// Gathers one value from each rank.
template <class T>
class Gathering {
 public:
  explicit Gathering(Transport& host) : host_(host), all_(std::size_t(host.size())) {
    std::vector<Message> receives;
    for (Rank r = 0; r < host_.size(); ++r)
      if (r != host_.rank()) receives.push_back(message(r, all_[std::size_t(r)]));
    comes_ = &host_.start(Lane::kPrefetch, kReceives, {}, receives);
  }
  /// Abandons an unfinished gathering, so that nothing arrives in this memory any more.
  ~Gathering() {
    if (!whole_) host_.abandon();
  }
  /// The values that have come so far; ranks whose value hasn't come have the default.
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

/// Why the ranks can't be linked; empty: they can.
std::string obstacle(const Transport& host, const std::vector<LinkOffer>& offers) {
  for (std::size_t r = 0; r < offers.size(); ++r) {
    if (offers[r].why_not[0] != 0)
      return fmt::format("{}: {}", named(host, Rank(r)), offers[r].why_not.data());
    if (offers[r].library != offers[0].library)
      return fmt::format("{} has {}, {} has {}", named(host, 0), offers[0].library.data(),
                         named(host, Rank(r)), offers[r].library.data());
    for (std::size_t other = 0; other < r; ++other)
      if (offers[other].device == offers[r].device)
        return fmt::format("{} and {} share a GPU, which does their work in turns", named(host, Rank(other)),
                           named(host, Rank(r)));
  }
  return {};
}

/// Why joining failed on a rank; empty: it succeeded, or hasn't ended yet.
using Failure = std::array<char, 256>;

std::string first_failure(const Transport& host, const std::vector<Failure>& all) {
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r][0] != 0) return fmt::format("{}: {}", named(host, Rank(r)), all[r].data());
  return {};
}

/// A few bytes that go round as a proof: each rank sends its number to the next one.
class Proof {
 public:
  explicit Proof(const Transport& host)
      : mine_(host.rank()), ranks_(host.size()), leaves_(Device::kCuda, 1), arrives_(Device::kCuda, 1) {
    backend().memory.upload(leaves_.data(), &mine_, sizeof mine_);
    backend().memory.clear(arrives_.data(), sizeof mine_);
  }
  void begin(DeviceLinks& links) {
    const auto message = [](Rank peer, Buffer<Rank>& of) {
      return DeviceMessage{peer, reinterpret_cast<std::byte*>(of.data()), sizeof(Rank)};
    };
    const DeviceMessage send = message((mine_ + 1) % ranks_, leaves_),
                        receive = message(previous(), arrives_);
    links.begin(0, {&send, 1}, {&receive, 1});
  }
  void check() const {
    Rank got = -1;
    backend().memory.download(&got, arrives_.data(), sizeof got);
    if (got != previous()) fail("{} arrives where {} was sent", got, previous());
  }

 private:
  Rank previous() const { return (mine_ + ranks_ - 1) % ranks_; }

  Rank mine_;
  int ranks_;
  Buffer<Rank> leaves_, arrives_;
};

/// Waits until there() is true, and returns true. Returns false once a rank has said that it can't have
/// links. A rank says so at once, so that no other rank waits for it in vain.
bool await_links(FunctionRef<bool()> there, Transport& host, Gathering<Failure>& failures,
                 milliseconds timeout) {
  const auto until = Clock::now() + timeout;
  while (!there()) {
    if (!first_failure(host, failures.so_far()).empty()) return false;
    if (Clock::now() > until)
      fail("not all ranks can be reached within {:g} s", std::chrono::duration<double>(timeout).count());
    std::this_thread::sleep_for(kNap);
  }
  return true;
}

/// Joins the links. Returns why that failed; empty: it succeeded on this rank.
Failure join(std::unique_ptr<DeviceLinks>& links, Proof& proof,
             FunctionRef<std::unique_ptr<DeviceLinks>()> make, Transport& host, Gathering<Failure>& failures,
             milliseconds timeout) {
  Failure own{};
  try {
    links = make();
    if (!await_links([&] { return links->joined(); }, host, failures, timeout)) return own;
    proof.begin(*links);
    if (await_links([&] { return links->done(0); }, host, failures, timeout)) proof.check();
  } catch (const Error& error) {
    std::string(error.what()).copy(own.data(), own.size() - 1);
  }
  return own;
}

LinkOffer offer_of(const LinkMaker& maker, const LinkOptions& options) {
  if (options.on_device) return maker.offer(options.rank_here);
  LinkOffer none;
  std::string("it is on the CPU").copy(none.why_not.data(), none.why_not.size() - 1);
  return none;
}

}  // namespace

LinkSetup set_up_links(Transport& host, const LinkMaker& maker, const LinkOptions& options) {
  LinkSetup setup;
  setup.why_not = obstacle(host, Gathering<LinkOffer>(host).with(offer_of(maker, options), options.timeout));
  if (!setup.why_not.empty()) return setup;
  const LinkKey mine = host.rank() == 0 ? maker.make_key() : LinkKey{};
  const LinkKey key = Gathering<LinkKey>(host).with(mine, options.timeout)[0];
  Proof proof(host);
  Gathering<Failure> failures(host);
  const auto make = [&] { return maker.join(options.rank_here, host.rank(), host.size(), key); };
  const Failure own = join(setup.links, proof, make, host, failures, options.timeout / 3);
  bool gives_up = own[0] == 0 || setup.links == nullptr || give_up(std::move(setup.links));
  setup.why_not = first_failure(host, failures.with(own, options.timeout));
  if (!setup.why_not.empty() && setup.links != nullptr) gives_up = give_up(std::move(setup.links));
  if (!gives_up) {  // the library may still use the proof's memory
    if (options.on_stuck) options.on_stuck(setup.why_not);
    fail("{}", setup.why_not);
  }
  return setup;
}

bool give_up(std::unique_ptr<DeviceLinks> links) {
  std::promise<void> over;
  std::future<void> is_over = over.get_future();
  std::thread([links = std::move(links), over = std::move(over)]() mutable {
    links->abandon();
    links.reset();
    over.set_value();
  }).detach();
  return is_over.wait_for(kGrace) == std::future_status::ready;
}

}  // namespace atl
