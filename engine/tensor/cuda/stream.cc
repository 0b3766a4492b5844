#include "tensor/cuda/stream.h"

#include <cstring>
#include <thread>

namespace atl::cuda {
namespace {

constexpr std::size_t kStaging = std::size_t(8) << 20;  // of each half

/// The streams that hold work back, by the threads that give it.
class HoldBack {
 public:
  static HoldBack& instance() {
    static HoldBack all;
    return all;
  }
  void add(Rounds* rounds) {
    const std::lock_guard lock(mutex_);
    all_.push_back({std::this_thread::get_id(), rounds});
  }
  void remove(Rounds* rounds) {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [&](const Held& each) { return each.rounds == rounds; });
  }
  void end_segments() {
    const std::lock_guard lock(mutex_);
    for (const Held& each : all_)
      if (each.thread == std::this_thread::get_id()) each.rounds->end_segment();
  }

 private:
  struct Held {
    std::thread::id thread;
    Rounds* rounds;
  };
  std::mutex mutex_;
  std::vector<Held> all_;
};

/// What cuBLAS takes by itself, so that it computes the same with it. In a captured call it would allocate it, and such a graph can't be
/// changed.
std::size_t cublas_room(int gpu) {
  cudaDeviceProp properties{};
  ATOLL_MUST(cudaGetDeviceProperties(&properties, gpu));
  return std::size_t(properties.major >= 9 ? 32 : 4) << 20;
}

}  // namespace

Stream::Stream(int gpu, Index cache_bytes) : gpu_(gpu), cache_bytes_(cache_bytes) {
  ATOLL_MUST(cudaSetDevice(gpu));
  ATOLL_MUST(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
  ATOLL_MUST(cublasCreate(&cublas_));
  ATOLL_MUST(cublasSetStream(cublas_, stream_));
  for (Staging& half : staging_) {
    void* data = nullptr;
    ATOLL_MUST(cudaMallocHost(&data, kStaging));
    half.data = static_cast<std::byte*>(data);
    ATOLL_MUST(cudaEventCreateWithFlags(&half.free, cudaEventDisableTiming));
  }
}

Stream::~Stream() {  // errors were reported by the call that failed
  cudaStreamSynchronize(stream_);
  if (rounds_ != nullptr) HoldBack::instance().remove(rounds_.get());
  rounds_.reset();
  for (const Marked& each : marks_) cudaEventDestroy(each.event);
  for (cudaEvent_t each : spare_) cudaEventDestroy(each);
  for (const Staging& half : staging_) cudaEventDestroy(half.free), cudaFreeHost(half.data);
  cublasDestroy(cublas_);
  if (cublas_room_ != nullptr) cudaFree(cublas_room_);
  cudaStreamDestroy(stream_);
}

void Stream::replay_rounds() {
  if (rounds_ != nullptr) return;
  const std::size_t bytes = cublas_room(gpu_);
  ATOLL_MUST(cudaMalloc(&cublas_room_, bytes));
  ATOLL_MUST(cublasSetWorkspace(cublas_, cublas_room_, bytes));
  rounds_ = std::make_unique<Rounds>(Target{stream_, cublas_});
  HoldBack::instance().add(rounds_.get());
}

void Stream::begin_round(Round round) {
  if (rounds_ != nullptr) rounds_->begin(round);
}

void Stream::end_segments() {
  HoldBack::instance().end_segments();
}

DeviceStream::Mark Stream::mark() {
  if (rounds_ != nullptr) rounds_->end_segment();
  const std::lock_guard lock(mutex_);
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

/// What was downloaded before the mark goes from pinned memory to where it belongs.
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
  if (done_ >= mark) return;
  cudaEvent_t event = nullptr;
  {
    const std::lock_guard lock(mutex_);
    for (const Marked& each : marks_)
      if (each.mark == mark) event = each.event;
  }
  if (event != nullptr)
    ATOLL_MUST(cudaEventSynchronize(event));  // reused only when somebody finds it reached
  ATOLL_CHECK(reached(mark), "mark {} of {}", mark, given_);
}

std::byte* Stream::staging_for(std::size_t bytes) {
  if (staging_[half_].used + bytes > kStaging) {
    ATOLL_MUST(cudaEventRecord(staging_[half_].free, stream_));
    half_ = 1 - half_;
    ATOLL_MUST(cudaEventSynchronize(staging_[half_].free));
    const std::lock_guard lock(mutex_);
    forget_reached();  // and with that all that was downloaded by way of it
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

// By way of pinned memory: a copy to any other would make the host wait for the stream here.
void Stream::download(void* host, const void* device, std::size_t bytes) {
  auto* to = static_cast<std::byte*>(host);
  const auto* from = static_cast<const std::byte*>(device);
  if (rounds_ != nullptr) rounds_->end_segment();
  while (bytes > 0) {
    const std::size_t piece = std::min(bytes, kStaging / 2);
    std::byte* const staged = staging_for(piece);
    ATOLL_MUST(cudaMemcpyAsync(staged, from, piece, cudaMemcpyDeviceToHost, stream_));
    const Mark after = mark();
    const std::lock_guard lock(mutex_);
    landings_.push_back({after, to, staged, piece});
    to += piece, from += piece, bytes -= piece;
  }
}

}  // namespace atl::cuda
