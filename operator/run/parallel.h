// Work in a limited number of threads at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace atl::ctl {

/// Calls work(0) … work(count − 1), each once, in at most `most` threads including the caller's. Returns when
/// all calls are done. If calls throw, the caller gets one of the exceptions.
inline void in_parallel(std::size_t count, int most, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  const auto share = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        failure = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t t = 1; t < std::min(count, std::size_t(most)); ++t) others.emplace_back(share);
    share();
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace atl::ctl
