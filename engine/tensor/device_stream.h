// An order of work on a device. Kernels and copies that a stream is given are done one after the other; the host goes on meanwhile,
// and says where it must wait. On the host itself work is done where it is asked for, and nothing is ever waited for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace atl {

struct Arcs;
class SumChoices;

/// That a stream was told of arcs that stay. They stay until it goes.
class StayingArcs {
 public:
  virtual ~StayingArcs() = default;
};

/// What a stream may be told to stand at until a thread of the host opens it.
class Gate {
 public:
  virtual ~Gate() = default;
  /// By the thread that gives the stream work.
  virtual void close() = 0;
  /// By any thread: what stands at it goes on.
  virtual void open() = 0;
};

/// Whoever sees to it that gates are opened.
class GateKeeper {
 public:
  virtual ~GateKeeper() = default;
  /// Returns when all are open that a stream was told of. Throws Error where that can't be: they are open then, too.
  virtual void wait_for_gates() = 0;
};

/// What a rank does again and again, mostly with the same calls on the same shapes.
enum class Round { kStep, kEvaluation };

/// Given and waited for by one thread, the rank's compute thread; whether a mark is reached, any thread may ask.
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

  /// Null: the host has to wait instead, before it gives the stream what needs that.
  virtual std::unique_ptr<Gate> make_gate() { return nullptr; }
  /// What follows is done when the gate, which make_gate() made, is open. Before the host waits for the stream, or asks for memory, it
  /// waits for the keeper. False: the stream doesn't stand at gates now, and nothing has been given to it.
  virtual bool stand_at(Gate& /*gate*/, GateKeeper& /*keeper*/) { return false; }
  /// Nothing is asked of the keeper any more.
  virtual void leave(GateKeeper& /*keeper*/) {}
  /// From here on it stands at gates where it can, in rounds like earlier ones. Before anything is given.
  virtual void use_gates() {}

  /// Arcs of the device's memory, with their scales, that are summed along again and again: it may find out by trying how that is fastest.
  /// What it finds is kept in `choices` under `name`. Whoever holds the answer lets it go before the arcs and the choices; the stream may go
  /// earlier, so both share it. Null: there is nothing to find out.
  virtual std::shared_ptr<const StayingArcs> keep_arcs(const Arcs& /*arcs*/, SumChoices& /*choices*/,
                                                       std::string_view /*name*/) {
    return nullptr;
  }

  /// From the host's memory, which is free again on return.
  virtual void upload(void* device, const void* host, std::size_t bytes) = 0;
  /// To the host's memory, which holds the bytes when the stream has come so far.
  virtual void download(void* host, const void* device, std::size_t bytes) = 0;
  /// The same from and to pinned memory (tensor/memory.h), which is read or written when the stream comes to it and stays until then.
  virtual void copy_in(void* device, const void* pinned, std::size_t bytes) { upload(device, pinned, bytes); }
  virtual void copy_out(void* pinned, const void* device, std::size_t bytes) {
    download(pinned, device, bytes);
  }
};

/// tensor/cpu/memory.cc: copies at once.
DeviceStream& host_stream();

}  // namespace atl
