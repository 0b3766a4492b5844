// Transfers between several ranks' devices, and sums over them, that bypass the host's memory. A backend
// implements them if its devices have such links. Ranks must begin transfers in one order; comm/transports.h
// sees to that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/types.h"

namespace atl {

/// A message of `bytes` bytes at `data`, in the device's memory, to or from `peer`.
struct DeviceMessage {
  Rank peer;
  std::byte* data;
  std::int64_t bytes;
};

/// The links of one rank, called by one thread. Every call returns soon, and throws Error with the library's
/// words if it has failed.
class DeviceLinks {
 public:
  virtual ~DeviceLinks() = default;
  /// Whether all ranks have joined; nothing may begin before.
  virtual bool joined() = 0;
  /// Begins a group of messages, which is sent and received after earlier groups. The slot's last group must
  /// be done.
  virtual void begin(int slot, std::span<const DeviceMessage> sends,
                     std::span<const DeviceMessage> receives) = 0;
  /// Begins a sum over all ranks, in place in the device's memory. Each rank has equally many values. Sums
  /// and the groups of begin() are done in the order in which they begin. The library chooses the order of
  /// additions.
  virtual void begin_sum(int slot, std::span<Real> values) = 0;
  /// Whether the slot's group has left and arrived, or has been summed.
  virtual bool done(int slot) = 0;
  /// Leaves in step with the others, once nothing is under way. Call until it returns true, and nothing
  /// afterwards.
  virtual bool left() = 0;
  /// Gives up what is under way. It may take long, or not return; call nothing afterwards.
  virtual void abandon() = 0;
};

/// Shared by all ranks that link up; made by one of them.
using LinkKey = std::array<std::byte, 128>;

/// What a rank tells the others before they link up.
struct LinkOffer {
  std::array<char, 32> device{};    // ranks with the same one share a device
  std::array<char, 32> library{};   // ranks with different ones can't be linked
  std::array<char, 192> why_not{};  // empty: it can be linked
};

/// A backend's links. `rank_here` as for Backend::open(), which opens the device.
struct LinkMaker {
  const char* name;
  LinkOffer (*offer)(int rank_here);
  LinkKey (*make_key)();
  std::unique_ptr<DeviceLinks> (*join)(int rank_here, Rank rank, int ranks, const LinkKey& key);
};

}  // namespace atl
