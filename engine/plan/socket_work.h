// The processor time that sending and receiving takes a rank: bytes go through a socket of this process, as the
// library's would through the network's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl {

class SocketWork {
 public:
  /// Throws Error where the system has no socket left.
  SocketWork();
  ~SocketWork();
  SocketWork(const SocketWork&) = delete;
  SocketWork& operator=(const SocketWork&) = delete;

  /// Sends so many bytes, and receives them.
  void carry(std::int64_t bytes);

 private:
  int ends_[2];
  std::vector<std::byte> piece_;
};

}  // namespace atl
