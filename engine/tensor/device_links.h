// Transfers between the memories of several ranks' devices, and sums over them, that don't go by way of the
// host's: what a backend brings for them, where it has such links. Ranks must begin transfers in one order;
// comm/transports.h sees to that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/types.h"

namespace atl {

/// `bytes` bytes at `data`, in the device's memory, to or from `peer`.
struct DeviceMessage {
  Rank peer;
  std::byte* data;
  std::int64_t bytes;
};

/// Of one rank, called by one thread. Every call returns soon, and throws Error with the library's words
/// where it has failed.
class DeviceLinks {
 public:
  virtual ~DeviceLinks() = default;
  /// Whether all ranks have joined: nothing is begun before.
  virtual bool joined() = 0;
  /// Begins a group of messages; those of earlier groups leave and arrive before. The slot's last group is
  /// done.
  virtual void begin(int slot, std::span<const DeviceMessage> sends,
                     std::span<const DeviceMessage> receives) = 0;
  /// Begins a sum over all ranks, of as many values on each, in place in the device's memory; in the order of
  /// begin()s. The order in which terms are added is the library's own.
  virtual void begin_sum(int slot, std::span<Real> values) = 0;
  /// Whether the slot's group has left and arrived, or is summed up.
  virtual bool done(int slot) = 0;
  /// Leaves in step with the others, once nothing is under way; called until it is true, and then nothing
  /// more.
  virtual bool left() = 0;
  /// Gives up what is under way. May take long, or not return; then nothing more is called.
  virtual void abandon() = 0;
};

/// What all ranks that link up share; made by one of them.
using LinkKey = std::array<std::byte, 128>;

/// What a rank can offer for links.
struct LinkOffer {
  std::array<char, 32> device{};    // two ranks with equal ones share a device, …
  std::array<char, 32> library{};   // … and two with different ones can't be linked
  std::array<char, 192> why_not{};  // empty: it can be linked
};

/// A backend's links. `rank_here` as for Backend::open(), whose device it is.
struct LinkMaker {
  const char* name;
  LinkOffer (*offer)(int rank_here);
  LinkKey (*make_key)();
  std::unique_ptr<DeviceLinks> (*join)(int rank_here, Rank rank, int ranks, const LinkKey& key);
};

}  // namespace atl
