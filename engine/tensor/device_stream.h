// An order of work on a device. The device does kernels and copies one after the other, while the host goes
// on and says where it must wait. On the host itself work is done at once, and nothing is waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/types.h"
#include "tensor/memory.h"

namespace atl {

struct Arcs;

/// While it exists, a stream relies on the arcs that were given to keep_arcs() not to change.
class StayingArcs {
 public:
  virtual ~StayingArcs() = default;
};

/// Work that a rank repeats, mostly with the same calls on the same shapes.
enum class Round { kStep, kEvaluation };

/// One thread, the rank's compute thread, gives it work and waits for it. Any thread may ask which mark is
/// the newest, and whether a mark is reached.
class DeviceStream {
 public:
  virtual ~DeviceStream() = default;
  /// A point after everything that the stream was given so far.
  using Mark = std::uint64_t;
  virtual Mark mark() { return 0; }
  virtual Mark newest() const { return 0; }
  virtual bool reached(Mark /*mark*/) const { return true; }
  /// Returns when the mark is reached.
  virtual void wait(Mark /*mark*/) {}
  void synchronise() { wait(mark()); }

  /// Work given from here on belongs to a round of this kind, until the next call.
  virtual void begin_round(Round /*round*/) {}
  /// From now on rounds are replayed, with the same bits, if the device can. Call before anything is given.
  virtual void replay_rounds() {}

  /// Announces arcs in the device's memory, with their scales, that are summed over again and again, so that
  /// the device may prepare them once. The caller drops the result before the arcs. The stream may be gone
  /// earlier, so both share it. Null: nothing is prepared.
  virtual std::shared_ptr<const StayingArcs> keep_arcs(const Arcs& /*arcs*/) { return nullptr; }
  /// Chooses whether the device's library sums over kept arcs, if it takes them, or our own kernels. The
  /// library knows only arcs kept after the first call with true. Returns false if the device has no such
  /// library.
  virtual bool sum_by_library(bool /*by_library*/) { return false; }

  /// Copies from the host's memory, which may be reused on return.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// Copies to the host's memory, which holds the bytes when the stream has come to this point.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// The same with pinned memory (tensor/memory.h), which is read or written when the stream comes to this
  /// point, and must stay until then.
  virtual void copy_in(void* device, const void* pinned, std::size_t bytes) { upload(device, pinned, bytes); }
  virtual void copy_out(void* pinned, const void* device, std::size_t bytes) {
    download(pinned, device, bytes);
  }
};

/// tensor/cpu/memory.cc: copies at once.
DeviceStream& host_stream();

/// While it exists, allocations of the thread that made it are taken from a reserve, as far as the reserve
/// goes. It must outlive these allocations.
class DeviceReserve {
 public:
  /// planned: bytes that are known to be allocated. An eighth more is reserved if possible, for gaps between
  /// pieces that have grown, and for kernels' scratch memory, which differs from device to device.
  DeviceReserve(Device device, Index planned) : reserve_(memory_of(device).reserve) {
    if (reserve_ == nullptr || planned <= 0) return;
    is_made_ = reserve_(std::size_t(planned + planned / 8)) || reserve_(std::size_t(planned));
  }
  ~DeviceReserve() {
    if (is_made_) reserve_(0);
  }
  DeviceReserve(const DeviceReserve&) = delete;
  DeviceReserve& operator=(const DeviceReserve&) = delete;

  /// False: the device hasn't that much memory left, or doesn't reserve memory.
  bool is_made() const { return is_made_; }

 private:
  bool (*reserve_)(std::size_t);
  bool is_made_ = false;
};

}  // namespace atl
