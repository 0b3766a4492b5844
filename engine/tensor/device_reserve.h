// A device's memory that a rank asks for at once, before it trains.
#pragma once

#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

/// While it lives, what the thread that made it allocates is taken from there as far as it goes. Outlives what it gave.
class DeviceReserve {
 public:
  /// planned: what is known to be allocated. An eighth more is asked for where it can be had: for gaps between pieces that have grown, and
  /// for kernels' scratch memory, which differs from device to device.
  DeviceReserve(Device device, Index planned) : reserve_(memory_of(device).reserve) {
    if (reserve_ == nullptr || planned <= 0) return;
    is_made_ = reserve_(std::size_t(planned + planned / 8)) || reserve_(std::size_t(planned));
  }
  ~DeviceReserve() {
    if (is_made_) reserve_(0);
  }
  DeviceReserve(const DeviceReserve&) = delete;
  DeviceReserve& operator=(const DeviceReserve&) = delete;

  /// False: the device hasn't so much left, or has no use for it.
  bool is_made() const { return is_made_; }

 private:
  bool (*reserve_)(std::size_t);
  bool is_made_ = false;
};

}  // namespace atl
