#include "streams.h"

#include <chrono>
#include <thread>

namespace emulated {
namespace {

std::atomic<std::uint64_t> seed{1};

}  // namespace

void set_seed(std::uint64_t to) {
  seed = to;
}
std::uint64_t next_seed() {
  return seed.fetch_add(1);
}

Stream::Stream(int gpu) : gpu_(gpu), list_(list_of_this_thread()), draws_(next_seed()) {
  const std::lock_guard lock(mutex());
  list_->push_back(this);
}
Stream::~Stream() {
  const std::lock_guard lock(mutex());
  std::erase(*list_, this);
}

void Stream::give(std::function<bool()> work) {
  const std::lock_guard lock(mutex());
  waiting_.push_back(std::move(work));
  if (draws_.next() % 4 == 0) advance(done_ + draws_.next() % (waiting_.size() + 1));
}

std::uint64_t Stream::given() const {
  const std::lock_guard lock(mutex());
  return done_ + waiting_.size();
}

bool Stream::reached(std::uint64_t position) {
  if (done_ >= position) return true;
  const std::lock_guard lock(mutex());
  if (draws_.next() % 16 == 0) advance(position);
  return done_ >= position;
}

bool Stream::advance(std::uint64_t until) {
  const std::lock_guard lock(mutex());
  while (done_ < until) {
    if (!waiting_.front()()) return false;
    waiting_.pop_front();
    done_.fetch_add(1);
  }
  return true;
}

void Stream::run(std::uint64_t until) {
  while (!advance(until)) std::this_thread::sleep_for(std::chrono::microseconds(50));
}

std::vector<Stream*> Stream::of_this_thread() {
  const std::lock_guard lock(mutex());
  return *list_of_this_thread();
}

std::shared_ptr<std::vector<Stream*>> Stream::list_of_this_thread() {
  static thread_local const auto streams = std::make_shared<std::vector<Stream*>>();
  return streams;
}

/// Work that waits for another stream takes that one along.
std::recursive_mutex& Stream::mutex() {
  static std::recursive_mutex all;
  return all;
}

void give(cudaStream_t stream, std::function<void()> work) {
  if (add_to_capture(stream, {}, nullptr, nullptr, work)) return;
  stream->give([work = std::move(work)] {
    work();
    return true;
  });
}
void give_when(cudaStream_t stream, std::function<bool()> work) {
  if (is_captured(stream)) end("work of another GPU's within a captured graph isn't played");
  stream->give(std::move(work));
}

}  // namespace emulated

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = new emulated::Stream(emulated::this_threads_gpu());
  return cudaSuccess;
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (emulated::is_captured(stream) && emulated::unsafe_in_capture())
    return cudaErrorStreamCaptureUnsupported;
  emulated::count_wait();
  stream->run(stream->given());
  return cudaSuccess;
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned) {
  if (event->stream == nullptr) return cudaSuccess;
  if (emulated::is_captured(stream) && emulated::unsafe_in_capture()) return cudaErrorStreamCaptureIsolation;
  stream->give([other = event->stream, position = event->position] { return other->advance(position); });
  return cudaSuccess;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = new emulated::Event;
  return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (emulated::is_captured(stream)) emulated::end("an event within a captured graph isn't played");
  *event = {stream, stream->given()};
  return cudaSuccess;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return event->stream == nullptr || event->stream->reached(event->position) ? cudaSuccess
                                                                             : cudaErrorNotReady;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  emulated::count_wait();
  if (event->stream != nullptr) event->stream->run(event->position);
  return cudaSuccess;
}
