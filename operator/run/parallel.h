// Work in several threads at once, but not in more than so many.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>

namespace atl::ctl {

/// Calls work(0) … work(count − 1), each once, by at most `most` threads, the caller's among them; returns when all are
/// done. `work` must not throw.
inline void in_parallel(std::size_t count, int most, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next = 0;
  const auto share = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(count, std::size_t(most)); ++t) others.emplace_back(share);
  share();
}

}  // namespace atl::ctl
