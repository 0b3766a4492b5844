// A device for tests, instead of a GPU (tensor/backend.h), on which errors of memory or order show. Nobody
// can read or write at its addresses: its kernels, which are the CPU's, use a second mapping of the same
// memory. Freed memory is poisoned and never used again. A stream does nothing until it must: its work is
// done when somebody waits for it, or earlier where the seed says so.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <cstring>
#include <deque>
#include <functional>
#include <new>
#include <random>
#include <tuple>
#include <vector>

#include "base/error.h"
#include "tensor/backend.h"
#include "tensor/dispatch/operands.h"

namespace atl::test {

class FarMemory {
 public:
  static FarMemory& instance() {
    static FarMemory memory;
    return memory;
  }
  /// The address at which the same bytes can be read and written.
  template <class T>
  T* near(T* far) const {
    return reinterpret_cast<T*>(reinterpret_cast<std::uintptr_t>(far) - far_ + near_);
  }
  bool holds(const void* data, std::size_t bytes) const {
    const auto at = reinterpret_cast<std::uintptr_t>(data);
    return at >= far_ && at + bytes <= far_ + used_.load();
  }
  Allocation allocate(std::size_t wanted) {
    const std::size_t bytes = (wanted + kHeader + 63) / 64 * 64;
    const std::size_t at = used_.fetch_add(bytes);
    if (at + bytes > kBytes) throw std::bad_alloc();
    auto* const data = reinterpret_cast<std::byte*>(far_ + at);
    *near(reinterpret_cast<std::size_t*>(data)) = bytes - kHeader;
    poison(data + kHeader, bytes - kHeader);
    return {data + kHeader, bytes - kHeader};
  }
  /// The address of the next allocation, without its header; a gap precedes it.
  const void* next() const { return reinterpret_cast<const void*>(far_ + used_.load()); }
  void skip(std::size_t bytes) { used_.fetch_add(bytes); }
  /// Poisons the memory; large pieces go back to the system instead.
  void release(void* data) {
    if (data == nullptr) return;
    const std::size_t bytes = *near(reinterpret_cast<std::size_t*>(static_cast<std::byte*>(data) - kHeader));
    if (bytes < kLarge) return poison(data, bytes);
    const auto begin = (reinterpret_cast<std::uintptr_t>(near(data)) + kPage - 1) / kPage * kPage;
    madvise(reinterpret_cast<void*>(begin), (bytes - kPage) / kPage * kPage, MADV_REMOVE);
  }

 private:
  static constexpr std::size_t kBytes = std::size_t(64) << 30, kHeader = 64, kPage = 4096,
                               kLarge = std::size_t(16) << 20;

  FarMemory() {
    const int file = memfd_create("far device", MFD_CLOEXEC);
    ATOLL_CHECK(file >= 0 && ftruncate(file, off_t(kBytes)) == 0, "no memory for the far device");
    void* const near = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    void* const far = mmap(nullptr, kBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ATOLL_CHECK(near != MAP_FAILED && far != MAP_FAILED, "no addresses for the far device");
    close(file);
    near_ = reinterpret_cast<std::uintptr_t>(near);
    far_ = reinterpret_cast<std::uintptr_t>(far);
  }
  /// Makes floats NaN, and ids −1.
  void poison(void* data, std::size_t bytes) { std::memset(near(data), 0xff, bytes); }

  std::uintptr_t near_ = 0, far_ = 0;
  std::atomic<std::size_t> used_{0};
};

class FarStream final : public DeviceStream {
 public:
  using Work = std::function<void(Context& near)>;

  explicit FarStream(unsigned seed) : draws_(seed) { of_this_thread().push_back(this); }
  ~FarStream() override { std::erase(of_this_thread(), this); }

  void give(Work work) {
    waiting_.push_back(std::move(work));
    if (draws_() % 4 == 0) run(draws_() % (waiting_.size() + 1));
  }
  Mark mark() override { return done_.load() + waiting_.size(); }
  bool reached(Mark mark) const override { return done_.load() >= mark; }
  void wait(Mark mark) override {
    if (mark > done_.load()) run(mark - done_.load());
  }
  void upload(void* device, const void* host, std::size_t bytes) override {
    ATOLL_CHECK(FarMemory::instance().holds(device, bytes), "upload of {} bytes to elsewhere", bytes);
    const auto* const from = static_cast<const std::byte*>(host);
    give([device, taken = std::vector<std::byte>(from, from + bytes)](Context&) {
      std::memcpy(FarMemory::instance().near(device), taken.data(), taken.size());
    });
  }
  void download(void* host, const void* device, std::size_t bytes) override {
    ATOLL_CHECK(FarMemory::instance().holds(device, bytes), "download of {} bytes from elsewhere", bytes);
    give([=](Context&) { std::memcpy(host, FarMemory::instance().near(device), bytes); });
  }

  /// Returns when all streams of this thread are done.
  static void finish_all() {
    for (FarStream* each : of_this_thread()) each->synchronise();
  }

 private:
  static std::vector<FarStream*>& of_this_thread() {
    static thread_local std::vector<FarStream*> streams;
    return streams;
  }
  void run(std::size_t count) {
    for (; count > 0; --count) {
      const Work work = std::move(waiting_.front());
      waiting_.pop_front();
      work(near_);
      done_.fetch_add(1);
    }
  }

  std::mt19937 draws_;
  std::deque<Work> waiting_;
  std::atomic<Mark> done_{0};
  ThreadPool pool_{1};
  Workspace workspace_;
  Context near_{Device::kCpu, &pool_, &workspace_};
};

/// Runs the CPU's kernel, some time later, on the second mapping.
template <auto kernel>
struct Later;
template <class... A, void (*kernel)(Context&, A...)>
struct Later<kernel> {
  static void call(Context& ctx, A... arguments) {
    static_cast<FarStream&>(*ctx.stream)
        .give([given = std::tuple<std::decay_t<A>...>(arguments...)](Context& near) {
          auto there = given;
          std::apply(
              [&](auto&... each) {
                const auto bring_near = [](auto*& data, Index) { data = FarMemory::instance().near(data); };
                (each_operand(each, bring_near), ...);
                kernel(near, each...);
              },
              there);
        });
  }
};

inline const Backend& far_backend() {
  static const Backend backend{
      {.allocate = [](std::size_t bytes) { return FarMemory::instance().allocate(bytes); },
       .release =
           [](void* data) {
             FarStream::finish_all();
             FarMemory::instance().release(data);
           },
       .clear =
           [](void* data, std::size_t bytes) {
             FarStream::finish_all();
             std::memset(FarMemory::instance().near(data), 0, bytes);
           },
       .copy =
           [](void* to, const void* from, std::size_t bytes) {
             FarStream::finish_all();
             std::memcpy(FarMemory::instance().near(to), FarMemory::instance().near(from), bytes);
           },
       .upload =
           [](void* to, const void* from, std::size_t bytes) {
             FarStream::finish_all();
             std::memcpy(FarMemory::instance().near(to), from, bytes);
           },
       .download =
           [](void* to, const void* from, std::size_t bytes) {
             FarStream::finish_all();
             std::memcpy(to, FarMemory::instance().near(from), bytes);
           },
       .is_hosts = false,
       .holds = [](const void* data, std::size_t bytes) { return FarMemory::instance().holds(data, bytes); }},
      {
#define ATOLL_KERNEL(name) .name = Later<&cpu::name>::call,
          ATOLL_KERNELS(ATOLL_KERNEL)
#undef ATOLL_KERNEL
              .take_halves = cpu_kernels().take_halves,
      }};
  return backend;
}

/// Installs the device for its lifetime.
class FarDevice {
 public:
  FarDevice() { install_backend(&far_backend()); }
  ~FarDevice() { install_backend(nullptr); }
};

}  // namespace atl::test
