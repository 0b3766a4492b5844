// A GPU's stream as an order of work (tensor/device_stream.h), with what belongs to it: cuBLAS's handle, the
// plans of products that cuBLASLt finishes, pinned memory that copies go by way of, and an event for each
// mark that somebody may still ask for.
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
  /// On GPU number `gpu`, which becomes the calling thread's. cache_bytes: of its second-level cache.
  Stream(int gpu, Index cache_bytes);
  ~Stream() override;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// mark() and wait() are one thread's, whichever comes first: a mark's event is used again once anybody has
  /// found it reached, and another thread's mark() could then record it anew while this one waits for it.
  Mark mark() override;
  /// Any thread may ask.
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

  /// Null: calls are done at once.
  Rounds* rounds() const { return is_at_once_ ? nullptr : rounds_.get(); }
  /// While it is there, calls are done at once and belong to no round. Before it, what was given is on the
  /// stream.
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
  /// Null: sums are our own kernels'.
  CusparseSums* cusparse() const { return sums_by_library_ ? cusparse_.get() : nullptr; }
  /// All that the calling thread's streams were given is on them: for what asks the device itself, and not a
  /// stream, and may wait for all of them.
  static void settle();

  cudaStream_t stream() const { return stream_; }
  cublasHandle_t cublas() const { return cublas_; }
  FinishedProducts& finished_products() const { return *finished_products_; }
  /// Memory that a product may use while it is computed, for all of the stream's products; asked for when it
  /// is first needed.
  void* product_room();
  std::size_t product_room_bytes() const;
  int gpu() const { return gpu_; }
  Index cache_bytes() const { return cache_bytes_; }

 private:
  struct Marked {
    Mark mark;
    cudaEvent_t event;
  };
  /// Half of the pinned memory, which is free again when the event is over.
  struct Staging {
    std::byte* data = nullptr;
    std::size_t used = 0;
    cudaEvent_t free = nullptr;
  };
  /// Bytes in pinned memory on their way to the host's, there when the mark is reached.
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
  void forget_reached() const;  // this and the next with mutex_
  void land(Mark mark) const;

  int gpu_;
  int major_ = 0;  // of its compute capability
  Index cache_bytes_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t cublas_ = nullptr;
  std::unique_ptr<Rounds> rounds_;
  bool is_at_once_ = false;
  std::unique_ptr<CusparseSums> cusparse_;  // null: nobody has asked for it
  bool sums_by_library_ = false;
  std::unique_ptr<FinishedProducts> finished_products_;
  void* product_room_ = nullptr;
  Staging staging_[2];
  int half_ = 0;
  Mark given_ = 0;
  std::thread::id marks_by_{};  // the thread that marks and waits; nobody's before the first mark
  mutable std::atomic<Mark> done_{0};
  mutable std::mutex mutex_;
  mutable std::deque<Marked> marks_;  // in order, those not known to be reached
  mutable std::vector<cudaEvent_t> spare_;
  mutable std::deque<Landing> landings_;  // in order
};

inline Stream& stream_of(const Context& ctx) {
  return static_cast<Stream&>(*ctx.stream);
}

}  // namespace atl::cuda
