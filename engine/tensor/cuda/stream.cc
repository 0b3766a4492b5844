#include "tensor/cuda/stream.h"

#include <algorithm>
#include <cstring>
#include <thread>

#include "tensor/cuda/cusparse.h"
#include "tensor/cuda/finished_products.h"

namespace atl::cuda {
namespace {

constexpr std::size_t kStaging = std::size_t(8) << 20;  // per half

}  // namespace

/// The streams that hold work back, with the threads that give them work.
class ThreadsStreams {
 public:
  static ThreadsStreams& instance() {
    static ThreadsStreams all;
    return all;
  }
  void add(Stream* stream) {
    const std::lock_guard lock(mutex_);
    const auto is = [&](const Given& each) { return each.stream == stream; };
    if (std::ranges::none_of(all_, is)) all_.push_back({std::this_thread::get_id(), stream});
  }
  void remove(Stream* stream) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const Given& each) { return each.stream == stream; });
  }
  /// Settles the calling thread's streams one by one. It does so without the lock, because other threads need
  /// the lock meanwhile.
  void settle() {
    for (std::size_t i = 0; Stream* const each = next(i);) each->settle_this();
  }

 private:
  struct Given {
    std::thread::id by;
    Stream* stream;
  };
  /// Returns this thread's next stream at place i or later, and moves i past it; null: there is none.
  Stream* next(std::size_t& i) {
    const std::lock_guard lock(mutex_);
    while (i < all_.size())
      if (const Given& each = all_[i++]; each.by == std::this_thread::get_id()) return each.stream;
    return nullptr;
  }

  std::mutex mutex_;
  std::vector<Given> all_;
};

namespace {

int major_of(int gpu) {
  cudaDeviceProp properties{};
  ATOLL_MUST(cudaGetDeviceProperties(&properties, gpu));
  return properties.major;
}

}  // namespace

Stream::Stream(int gpu, Index cache_bytes) : gpu_(gpu), major_(major_of(gpu)), cache_bytes_(cache_bytes) {
  ATOLL_MUST(cudaSetDevice(gpu));
  ATOLL_MUST(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  ATOLL_MUST(cublasCreate(&cublas_));
  ATOLL_MUST(cublasSetStream(cublas_, stream_));
  finished_products_ = std::make_unique<FinishedProducts>(*this);
  for (Staging& half : staging_) {
    void* data = nullptr;
    ATOLL_MUST(cudaMallocHost(&data, kStaging));
    half.data = static_cast<std::byte*>(data);
    ATOLL_MUST(cudaEventCreateWithFlags(&half.free, cudaEventDisableTiming));
  }
}

Stream::~Stream() {  // errors were reported by the call that failed
  settle_this();
  cudaStreamSynchronize(stream_);
  ThreadsStreams::instance().remove(this);
  rounds_.reset();
  cusparse_.reset();
  for (const Marked& each : marks_) cudaEventDestroy(each.event);
  for (cudaEvent_t each : spare_) cudaEventDestroy(each);
  for (const Staging& half : staging_) cudaEventDestroy(half.free), cudaFreeHost(half.data);
  cublasDestroy(cublas_);
  if (product_room_ != nullptr) cudaFree(product_room_);
  cudaStreamDestroy(stream_);
}

/// The size that cuBLAS would allocate itself, so that results are the same.
std::size_t Stream::product_room_bytes() const {
  return std::size_t(major_ >= 9 ? 32 : 4) << 20;
}

void* Stream::product_room() {
  if (product_room_ != nullptr) return product_room_;
  settle_this();  // cudaMalloc may wait for the whole GPU
  ATOLL_MUST(cudaMalloc(&product_room_, product_room_bytes()));
  return product_room_;
}

/// Sets cuBLAS's scratch memory: otherwise a captured call allocates its own, and such a graph can't be
/// updated.
void Stream::replay_rounds() {
  if (rounds_ != nullptr) return;
  ATOLL_MUST(cublasSetWorkspace(cublas_, product_room(), product_room_bytes()));
  rounds_ = std::make_unique<Rounds>(Target{stream_, cublas_});
  ThreadsStreams::instance().add(this);
}

void Stream::begin_round(Round round) {
  if (rounds_ != nullptr) rounds_->begin(round);
}

std::shared_ptr<const StayingArcs> Stream::keep_arcs(const Arcs& arcs) {
  return cusparse_ == nullptr ? nullptr : cusparse_->keep(arcs);
}

bool Stream::sum_by_library(bool by_library) {
  if (by_library && cusparse_ == nullptr) cusparse_ = CusparseSums::make(*this);
  sums_by_library_ = by_library && cusparse_ != nullptr;
  return cusparse_ != nullptr;
}

void Stream::settle() {
  ThreadsStreams::instance().settle();
}

void Stream::settle_this() {
  if (rounds_ != nullptr) rounds_->end_segment();
}

void Stream::check_thread() {
  const std::thread::id none{}, mine = std::this_thread::get_id();
  if (marks_by_ == none) marks_by_ = mine;
  ATOLL_CHECK(marks_by_ == mine, "a stream of GPU {} is marked and waited for by two threads", gpu_);
}

DeviceStream::Mark Stream::mark() {
  check_thread();
  if (rounds_ != nullptr) rounds_->end_segment();
  const std::lock_guard lock(mutex_);
  return mark_here();
}

DeviceStream::Mark Stream::mark_here() {
  forget_reached();
  cudaEvent_t event = nullptr;
  if (spare_.empty()) {
    ATOLL_MUST(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  } else {
    event = spare_.back();
    spare_.pop_back();
  }
  ATOLL_MUST(cudaEventRecord(event, stream_));
  marks_.push_back({++given_, event});
  return given_;
}

DeviceStream::Mark Stream::newest() const {
  const std::lock_guard lock(mutex_);
  return given_;
}

void Stream::forget_reached() const {
  while (!marks_.empty()) {
    const cudaError_t status = cudaEventQuery(marks_.front().event);
    if (status == cudaErrorNotReady) return;
    must(status, "cudaEventQuery");
    land(marks_.front().mark);
    done_ = marks_.front().mark;
    spare_.push_back(marks_.front().event);
    marks_.pop_front();
  }
}

/// Copies what was downloaded before the mark from pinned memory to its destination.
void Stream::land(Mark mark) const {
  for (; !landings_.empty() && landings_.front().after <= mark; landings_.pop_front())
    std::memcpy(landings_.front().host, landings_.front().staged, landings_.front().bytes);
}

bool Stream::reached(Mark mark) const {
  if (done_ >= mark) return true;
  const std::lock_guard lock(mutex_);
  forget_reached();
  return done_ >= mark;
}

void Stream::wait(Mark mark) {
  check_thread();
  if (reached(mark)) return;
  cudaEvent_t event = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (const Marked& each : marks_)
      if (each.mark == mark) event = each.event;
  }
  if (event != nullptr)
    ATOLL_MUST(cudaEventSynchronize(event));  // an event is reused only after somebody finds it reached
  ATOLL_CHECK(reached(mark), "mark {} of {}", mark, given_);
}

std::byte* Stream::staging_for(std::size_t bytes) {
  if (staging_[half_].used + bytes > kStaging) {
    ATOLL_MUST(cudaEventRecord(staging_[half_].free, stream_));
    half_ = 1 - half_;
    ATOLL_MUST(cudaEventSynchronize(staging_[half_].free));
    const std::lock_guard lock(mutex_);
    forget_reached();  // also copies everything that was downloaded through it
    staging_[half_].used = 0;
  }
  std::byte* const at = staging_[half_].data + staging_[half_].used;
  staging_[half_].used += (bytes + 63) / 64 * 64;
  return at;
}

void Stream::upload(void* device, const void* host, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(device);
  const auto* from = static_cast<const std::byte*>(host);
  if (rounds_ != nullptr) rounds_->end_segment();
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, kStaging / 2);
    std::byte* const staged = staging_for(piece);
    std::memcpy(staged, from, piece);
    ATOLL_MUST(cudaMemcpyAsync(to, staged, piece, cudaMemcpyHostToDevice, stream_));
    to += piece, from += piece, bytes -= piece;
  }
}

// Goes through pinned memory, because a copy to any other would make the host wait for the stream here.
void Stream::download(void* host, const void* device, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(host);
  const auto* from = static_cast<const std::byte*>(device);
  if (rounds_ != nullptr) rounds_->end_segment();
  while (bytes > 0) {
    check_thread();
    const std::size_t piece = std::min(bytes, kStaging / 2);
    std::byte* const staged = staging_for(piece);
    ATOLL_MUST(cudaMemcpyAsync(staged, from, piece, cudaMemcpyDeviceToHost, stream_));
    // The landing and its mark are added under one lock: a thread that finds the mark reached copies what has
    // landed.
    const std::lock_guard lock(mutex_);
    landings_.push_back({mark_here(), to, staged, piece});
    to += piece, from += piece, bytes -= piece;
  }
}

void Stream::copy_in(void* device, const void* pinned, std::size_t bytes) {
  if (rounds_ != nullptr) rounds_->end_segment();
  ATOLL_MUST(cudaMemcpyAsync(device, pinned, bytes, cudaMemcpyHostToDevice, stream_));
}

void Stream::copy_out(void* pinned, const void* device, std::size_t bytes) {
  if (rounds_ != nullptr) rounds_->end_segment();
  ATOLL_MUST(cudaMemcpyAsync(pinned, device, bytes, cudaMemcpyDeviceToHost, stream_));
}

}  // namespace atl::cuda
