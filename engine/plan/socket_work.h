// The processor time that sending and receiving takes a rank: bytes go through a TCP connection of this process with
// itself, as the library's go through the network's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace atl {

class SocketWork {
 public:
  /// Throws Error where the system has no connection to 127.0.0.1 left.
  SocketWork();
  ~SocketWork();
  SocketWork(const SocketWork&) = delete;
  SocketWork& operator=(const SocketWork&) = delete;

  /// Sends so many bytes, and receives them.
  void carry(std::int64_t bytes);

 private:
  int out_ = -1, in_ = -1;
  std::vector<std::byte> rows_, piece_;
  std::size_t at_ = 0;  // in rows_
};

}  // namespace atl
