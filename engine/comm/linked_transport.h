// Ranks on devices that have links of their own (NCCL): bulk rows in a device's memory go from device to device, and sums over all ranks
// that are asked for in bulk are made there; everything else goes as the host's transport carries it.
//
// For each message from device to device its two ranks first tell each other, over the host's transport, that they have come to it. A
// group is launched when all its messages' ranks have, so that nobody's device stands waiting for a rank that still computes, and a
// rank that never comes is known by name. A sum is such a group, of all ranks. Groups are launched in the order of their starts, one after the other, on one
// communicator. No deadlock can arise where all ranks start groups in the same order, a pair's messages in the same groups: the oldest
// group that isn't over waits for no later one.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "comm/transport.h"

namespace atl {

struct LinkOptions {
  bool on_device = true;                             // false: this rank is on the host, and none has links
  int rank_here = 0;                                 // its number on its machine
  std::chrono::milliseconds timeout{300'000};        // of silence
  std::string* why_staged = nullptr;                 // open() says why there are no links; empty: there are
  std::function<void(const std::string&)> on_stuck;  // as Communicator::Options::on_stuck
  std::int64_t round_bytes =
      64 << 20;  // of a message, at once: a long one is seen to go on. Equal on all ranks
};

/// `host` also carries messages between devices where there are no links: between ranks that share a GPU, or without the library. All
/// ranks of the group have this transport over theirs.
std::unique_ptr<Transport> make_linked_transport(std::unique_ptr<Transport> host, const LinkOptions& options);

}  // namespace atl
