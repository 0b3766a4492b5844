// A GPU's stream as an order of work (tensor/device_stream.h), with everything that belongs to it: cuBLAS's
// handle, the plans of products that cuBLASLt finishes, pinned memory for copies, and an event for each mark
// that somebody may still ask about.
#pragma once

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "tensor/context.h"
#include "tensor/cuda/rounds.h"

namespace atl::cuda {

class FinishedProducts;
class CusparseSums;

class Stream final : public DeviceStream {
 public:
  /// Opens a stream on GPU number `gpu`, which becomes the calling thread's. cache_bytes: of its second-level
  /// cache.
  Stream(int gpu, Index cache_bytes);
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Only one thread may call mark() and wait(): the first one that does. A mark's event is reused once
  /// anybody has found it reached, so a second thread's mark() could record it again while this thread waits
  /// for it.
  Mark mark() override;
  /// Any thread may ask these two.
  Mark newest() const override;
  bool reached(Mark mark) const override;
  void wait(Mark mark) override;
  void upload(void* device, const void* host, std::size_t bytes) override;
  void download(void* host, const void* device, std::size_t bytes) override;
  void begin_round(Round round) override;
  void replay_rounds() override;
  void copy_in(void* device, const void* pinned, std::size_t bytes) override;
  void copy_out(void* pinned, const void* device, std::size_t bytes) override;

  std::shared_ptr<const StayingArcs> keep_arcs(const Arcs& arcs) override;
  bool sum_by_library(bool by_library) override;

  /// Null: calls run at once.
  Rounds* rounds() const { return is_at_once_ ? nullptr : rounds_.get(); }
  /// While it exists, calls run at once and belong to no round. Calls given before are put on the stream
  /// first.
  class AtOnce {
   public:
    explicit AtOnce(Stream& stream) : stream_(stream) {
      if (stream.rounds_ != nullptr) stream.rounds_->end_segment();
      stream.is_at_once_ = true;
    }
    ~AtOnce() { stream_.is_at_once_ = false; }
    AtOnce(const AtOnce&) = delete;
    AtOnce& operator=(const AtOnce&) = delete;

   private:
    Stream& stream_;
  };
  /// Null: our own kernels sum.
  CusparseSums* cusparse() const { return sums_by_library_ ? cusparse_.get() : nullptr; }
  /// Launches all calls that the calling thread's streams hold back. Needed before calls that act on the
  /// device itself, not on a stream, and may wait for all streams.
  static void settle();

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const { return cublas_; }
  FinishedProducts& finished_products() const { return *finished_products_; }
  /// Scratch that all of the stream's products share; allocated when it is first needed.
  void* product_room();
  std::size_t product_room_bytes() const;
  int gpu() const { return gpu_; }
  Index cache_bytes() const { return cache_bytes_; }

 private:
  struct Marked {
    Mark mark;
    cudaEvent_t event;
  };
  /// Half of the pinned memory; it is free again when the event is over.
  struct Staging {
    std::byte* data = nullptr;
    std::size_t used = 0;
    cudaEvent_t free = nullptr;
  };
  /// Bytes in pinned memory on their way to the host's memory; they are copied there when the mark is
  /// reached.
  struct Landing {
    Mark after;
    std::byte* host;
    const std::byte* staged;
    std::size_t bytes;
  };
  friend class ThreadsStreams;
  void settle_this();
  void check_thread();
  std::byte* staging_for(std::size_t bytes);
  Mark mark_here();  // needs mutex_, like the next two
  void forget_reached() const;
  void land(Mark mark) const;

  int gpu_;
  int major_ = 0;  // of its compute capability
  Index cache_bytes_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  std::unique_ptr<Rounds> rounds_;
  bool is_at_once_ = false;
  std::unique_ptr<CusparseSums> cusparse_;  // null: not asked for yet
  bool sums_by_library_ = false;
  std::unique_ptr<FinishedProducts> finished_products_;
  void* product_room_ = nullptr;
  Staging staging_[2];
  int half_ = 0;
  Mark given_ = 0;
  std::thread::id marks_by_{};  // the thread that marks and waits; none before the first mark
  mutable std::atomic<Mark> done_{0};
  mutable std::mutex mutex_;
  mutable std::deque<Marked> marks_;  // in order; only those not known to be reached
  mutable std::vector<cudaEvent_t> spare_;
  mutable std::deque<Landing> landings_;  // in order
};

inline Stream& stream_of(const Context& ctx) {
  return static_cast<Stream&>(*ctx.stream);
}

// Calls of CUDA's libraries in the order of a stream, recorded like launches.

/// Runs a recorded call of a library, which launches no kernel of ours.
template <class Arguments>
void run_recorded(const Call& call, void* const* arguments, const Target& on) {
  using Function = void (*)(const Target&, const Arguments&);
  reinterpret_cast<Function>(const_cast<void*>(call.function))(on,
                                                               *static_cast<const Arguments*>(arguments[0]));
}

/// Calls ask(where, arguments) in the order of ctx's stream. Recorded arguments are compared byte by byte, so
/// they should have no padding.
template <class Arguments>
void call_library(const Context& ctx, void (*ask)(const Target&, const Arguments&),
                  const Arguments& arguments) {
  const Stream& stream = stream_of(ctx);
  if (Rounds* const rounds = stream.rounds(); rounds != nullptr && rounds->records())
    return rounds->give({&run_recorded<Arguments>, reinterpret_cast<const void*>(ask), false, {}}, arguments);
  ask({stream.stream(), stream.cublas()}, arguments);
}

}  // namespace atl::cuda
