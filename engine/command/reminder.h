// Work that can't tell how far it is, such as METIS dividing a graph: while it goes on, the user hears now and then for how long.
#pragma once

#include <fmt/format.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "base/readable.h"

namespace atl {

class Reminder {
 public:
  /// `say` is called by another thread every `interval` while this lives: "still WORK after 2 min: HINT".
  template <class Say>
  Reminder(Say say, const std::string& work, const std::string& hint,
           std::chrono::milliseconds interval = std::chrono::minutes(1))
      : thread_([=](const std::stop_token& stop) {
          std::mutex mutex;
          std::condition_variable_any never;
          std::unique_lock lock(mutex);
          for (auto passed = interval;; passed += interval) {
            never.wait_for(lock, stop, interval, [] { return false; });
            if (stop.stop_requested()) return;
            say(fmt::format("still {} after {}{}{}", work,
                            duration_text(std::chrono::duration<double>(passed).count()),
                            hint.empty() ? "" : ": ", hint));
          }
        }) {}

 private:
  std::jthread thread_;
};

}  // namespace atl
