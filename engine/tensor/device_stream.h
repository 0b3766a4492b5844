// An order of work on a device. Kernels and copies that a stream is given are done one after the other; the
// host goes on meanwhile, and says where it must wait. On the host itself work is done where it is asked for,
// and nothing is ever waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

struct Arcs;

/// Says to a stream, as long as it lives, that these arcs don't change.
class StayingArcs {
 public:
  virtual ~StayingArcs() = default;
};

/// What a rank does again and again, mostly with the same calls on the same shapes.
enum class Round { kStep, kEvaluation };

/// Given and waited for by one thread, the rank's compute thread; whether a mark is reached, any thread may
/// ask.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// Of what the stream was given so far.
  using Mark = std::uint64_t;
  virtual Mark mark() { return 0; }
  virtual bool reached(Mark /*mark*/) const { return true; }
  /// Returns when it is reached.
  virtual void wait(Mark /*mark*/) {}
  void synchronise() { wait(mark()); }

  /// What follows is one of these, until the next call.
  virtual void begin_round(Round /*round*/) {}
  /// From here on rounds are replayed where the device can, to the same bits. Before anything is given.
  virtual void replay_rounds() {}

  /// Arcs of the device's memory, with their scales, that are summed along again and again, so that something
  /// may be made of them once. Whoever holds the answer lets it go before the arcs; the stream may go
  /// earlier, so both share it. Null: nothing is made of them.
  virtual std::shared_ptr<const StayingArcs> keep_arcs(const Arcs& /*arcs*/) { return nullptr; }
  /// From here on sums over kept arcs are the device's library's where it takes them, or our own kernels'
  /// again. The library knows only arcs that are kept after the first call with true. False: the device has
  /// no such library.
  virtual bool sum_by_library(bool /*by_library*/) { return false; }

  /// From the host's memory, which is free again on return.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// To the host's memory, which holds the bytes when the stream has come so far.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// The same from and to pinned memory (tensor/memory.h), which is read or written when the stream comes to
  /// it and stays until then.
  virtual void copy_in(void* device, const void* pinned, std::size_t bytes) { upload(device, pinned, bytes); }
  virtual void copy_out(void* pinned, const void* device, std::size_t bytes) {
    download(pinned, device, bytes);
  }
};

/// tensor/cpu/memory.cc: copies at once.
DeviceStream& host_stream();

/// While it lives, what the thread that made it allocates is taken from there as far as it goes. Outlives
/// what it gave.
class DeviceReserve {
 public:
  /// planned: what is known to be allocated. An eighth more is asked for where it can be had: for gaps
  /// between pieces that have grown, and for kernels' scratch memory, which differs from device to device.
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
