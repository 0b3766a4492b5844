// Ranks as threads whose messages are in a far device's memory (tensor/far_device.h), or in the host's.
#pragma once

#include <utility>

#include "comm/forwarding_transport.h"
#include "comm/ranks.h"
#include "tensor/far_device.h"

namespace atl::test {

class FarTransport final : public ForwardingTransport {
 public:
  using ForwardingTransport::ForwardingTransport;
  Pending& start(Lane lane, int slot, std::span<const Message> sends,
                 std::span<const Message> receives) override {
    return ForwardingTransport::start(lane, slot, brought_near(sends, sends_),
                                      brought_near(receives, receives_));
  }

 private:
  static std::span<const Message> brought_near(std::span<const Message> messages,
                                               std::vector<Message>& into) {
    into.assign(messages.begin(), messages.end());
    for (Message& each : into)
      if (FarMemory::instance().holds(each.data, std::size_t(each.bytes)))
        each.data = FarMemory::instance().near(each.data);
    return into;
  }

  std::vector<Message> sends_, receives_;
};

/// As run_ranks().
inline void run_far_ranks(int ranks, const std::function<void(Communicator&)>& rank_main) {
  std::vector<std::unique_ptr<Transport>> transports;
  for (auto& near : make_local_group(ranks))
    transports.push_back(std::make_unique<FarTransport>(std::move(near)));
  const auto failures = failures_of_ranks(std::move(transports), {}, rank_main);
  for (std::size_t r = 0; r < failures.size(); ++r)
    if (!failures[r].empty()) throw std::runtime_error("rank " + std::to_string(r) + ": " + failures[r]);
}

}  // namespace atl::test
