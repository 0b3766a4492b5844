// A watch over the device of a rank that is alone. Ranks that exchange rows find a device that hangs before
// an exchange (comm/progress.h), or miss the rank. A rank alone exchanges nothing, and nobody misses it.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

#include "tensor/device_stream.h"

namespace atl {

/// While it exists, the process ends with kStatusFailed, and says `last_words` on standard error, once the
/// stream has had `timeout` for what it was given and isn't done, or its library doesn't say whether it is.
/// The stream outlives it.
class DeviceWatch {
 public:
  DeviceWatch(const DeviceStream& stream, std::chrono::seconds timeout, std::string last_words);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

 private:
  void watch();
  bool is_over_after(std::chrono::milliseconds pause);

  const DeviceStream& stream_;
  const std::chrono::seconds timeout_;
  const std::string last_words_;
  std::mutex lock_;
  std::condition_variable news_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace atl
