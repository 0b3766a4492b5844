// How long a stream takes for some work, by the device's own clock.
#pragma once

#include "tensor/cuda/status.h"

namespace atl::cuda {

class EventTimer {
 public:
  explicit EventTimer(cudaStream_t stream) : stream_(stream) {
    ATOLL_MUST(cudaEventCreateWithFlags(&begin_, cudaEventDefault));
    ATOLL_MUST(cudaEventCreateWithFlags(&end_, cudaEventDefault));
  }
  ~EventTimer() {
    if (begin_ != nullptr) cudaEventDestroy(begin_);
    if (end_ != nullptr) cudaEventDestroy(end_);
  }
  EventTimer(const EventTimer&) = delete;
  EventTimer& operator=(const EventTimer&) = delete;

  /// Milliseconds per call of `give`, of so many that follow each other. Waits until they are done.
  template <class F>
  double milliseconds(int calls, F&& give) {
    ATOLL_MUST(cudaEventRecord(begin_, stream_));
    for (int i = 0; i < calls; ++i) give();
    ATOLL_MUST(cudaEventRecord(end_, stream_));
    ATOLL_MUST(cudaEventSynchronize(end_));
    float all = 0;
    ATOLL_MUST(cudaEventElapsedTime(&all, begin_, end_));
    return double(all) / calls;
  }

 private:
  cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

}  // namespace atl::cuda
